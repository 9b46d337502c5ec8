import './node-version.cjs'

// What an installation starts. Plain JavaScript, and the rest only when it is known that this Node.js runs TypeScript.
const [, , word = 'all', ...parameters] = process.argv

const HELP = `Usage: pixgate [WORD]

  all            everything; the default
  api            answers HTTP
  worker         asks the bank, applies its events, delivers notifications
  migrate        brings the schema up to date and ends
  verify-ledger  recomputes the books and ends; [--at 2026-11-21T00:00:00Z] [--json]
  rewrap-keys    seals stored secrets anew with PIXGATE_ENCRYPTION_KEY and ends
  export-subject prints what is kept about a person as JSON; --by NAME --reason TEXT, and the CPF, CNPJ or Pix key on stdin
  verify-audit   verifies the audit trail and ends; [--head 17:9f86…] [--json]
  close          prints the close of a day of America/Sao_Paulo and ends; --day 2026-11-22 [--format csv|ofx|json]
  bank-check     goes the way to the bank step by step and ends; [--register] tells it where to call
  doctor         says what is wrong with the configuration and with all that it names, and ends

Settings are variables of the environment, or lines of .env in the working directory.
`

/** What is no role of the server. */
const programs = {
  ...Object.fromEntries(
    ['verify-ledger', 'rewrap-keys', 'export-subject', 'verify-audit', 'close'].map((name) => [name, runOnDatabase]),
  ),
  'bank-check': async () => {
    const { checkBank } = await import('../src/doctor/doctor.ts')
    process.exitCode = await checkBank(parameters, 'pixgate bank-check')
  },
  doctor: () => import('../src/doctor/main.ts'),
}

async function runOnDatabase() {
  const { readEnvironment } = await import('../src/process.ts')
  const { configuredDatabase, runOnDatabase } = await import('../src/programs.ts')
  process.exitCode = await runOnDatabase([word, ...parameters], 'pixgate', () =>
    configuredDatabase(readEnvironment().environment),
  )
}

async function startServer() {
  const { ROLES, refuse } = await import('../src/process.ts')
  const words = [...ROLES, ...Object.keys(programs)]
  if (!words.includes(word)) refuse(`unknown word ${word}; it is one of ${words.join(', ')}`)
  await import('../src/main.ts')
}

if (['--help', '-h', 'help'].includes(word)) process.stdout.write(HELP)
else await (Object.hasOwn(programs, word) ? programs[word] : startServer)()
