// Ends a process whose Node.js is too old with one sentence, before it reads a line of TypeScript. Loaded by `--require` or
// an import, and written so that a Node.js of any age understands it.
var OLDEST = 24

if (parseInt(process.versions.node, 10) < OLDEST) {
  process.stderr.write(
    'pixgate: this is Node.js ' +
      process.version +
      ', and Node.js ' +
      OLDEST +
      ' or newer is needed: install it, and start again.\n',
  )
  process.exit(2)
}
