export { errorHelpPtBr as errorHelp } from '@pixgate/spec'
