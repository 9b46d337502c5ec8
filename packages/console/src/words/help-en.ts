export { errorHelp } from '@pixgate/spec'
