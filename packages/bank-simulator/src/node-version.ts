/** Exits with an error if Node.js is too old. Imported before the modules that an old Node.js cannot load. */
const OLDEST = 24

if (Number.parseInt(process.versions.node, 10) < OLDEST) {
  process.stderr.write(
    `bank-simulator: this is Node.js ${process.version}, and Node.js ${OLDEST} or newer is needed: install it, and start again.\n`,
  )
  process.exit(2)
}
