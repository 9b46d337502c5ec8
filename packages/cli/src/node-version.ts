import process from 'node:process'

/** The oldest version that the remote commands run on, as those of the SDK. */
const [MAJOR, MINOR] = [22, 12]

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < MAJOR || (major === MAJOR && minor < MINOR)) {
  process.stderr.write(
    `pixgate: this is Node.js ${process.version}, and Node.js ${MAJOR}.${MINOR} or newer is needed, for dev and server Node.js 24: install it, and start again.\n`,
  )
  process.exit(2)
}
