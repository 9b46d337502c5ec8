import type { Command, Context, Surroundings } from './command.ts'
import { EXITS, Failure, failureOf, usageError } from './failure.ts'
import { helpOf, overview } from './help.ts'
import { type Input, readInput } from './input.ts'
import { Output } from './output.ts'
import { isOfSandbox, readSecretFile, readSettings, refuseLive, type Settings } from './settings.ts'
import { version } from './version.ts'

/** Runs a command line. @returns the exit code @source rules#cli.2 */
export async function run(
  commands: readonly Command[],
  args: readonly string[],
  surroundings: Surroundings,
): Promise<number> {
  const out = new Output(surroundings, args.includes('--json'))
  let finds: string | undefined
  try {
    const words = args.filter((arg) => !arg.startsWith('-'))
    if (args.includes('--version') && words.length === 0) return print(out, version())
    if (words.length === 0 || words[0] === 'help') return print(out, overview(commands, words.slice(1)))
    const command = commandOf(commands, words, args.includes('--help'))
    if (typeof command === 'string') return print(out, command)
    const rest = withoutName(command, args)
    if (args.includes('--help') && !command.isPassedOn) return print(out, helpOf(command))
    const input = command.isPassedOn ? readPassedOn(rest) : readInput(command, rest)
    finds = command.finds && findsBy(command.finds(input), input)
    return (await command.run(input, await contextOf(command, input, out, surroundings))) ?? EXITS.done
  } catch (error) {
    if (surroundings.signal.aborted && !(error instanceof Failure)) return EXITS.done
    const failure = failureOf(error, finds)
    if (!failure) throw error
    out.fail(failure)
    return EXITS[failure.exit]
  }
}

function print(out: Output, text: string): number {
  out.raw(text)
  return EXITS.done
}

/** @returns help instead, where a group is asked for it @throws Failure used wrongly */
function commandOf(commands: readonly Command[], words: readonly string[], isHelp: boolean): Command | string {
  const named = commands
    .filter(({ name }) => name.split(' ').every((word, place) => words[place] === word))
    .sort((one, other) => other.name.length - one.name.length)
  if (named[0]) return named[0]
  const group = commands.filter(({ name }) => name.split(' ')[0] === words[0])
  if (group.length > 0 && isHelp) return overview(commands, words)
  const known = group.length > 0 ? group.map(({ name }) => name) : near(commands, words[0] ?? '')
  const hint = known.length > 0 ? `Known: ${known.join(', ')}.` : 'See: pixgate --help'
  throw usageError('there is no such command; options stand behind the command', hint)
}

function near(commands: readonly Command[], word: string): string[] {
  const firsts = [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''))]
  return firsts.filter((name) => name.startsWith(word.slice(0, 2)))
}

function withoutName({ name }: Command, args: readonly string[]): string[] {
  let left = name.split(' ').length
  return args.filter((arg) => {
    if (arg.startsWith('-') || left === 0) return true
    left -= 1
    return false
  })
}

function readPassedOn(args: readonly string[]): Input {
  return readInput({ name: '', says: '', examples: [], run: async () => undefined, ...REST }, ['--', ...args])
}

const REST = { arguments: [{ name: 'WORDS', says: '', isOptional: true, isRest: true }] } as const

function findsBy(command: string, input: Input): string {
  const profile = input.text('profile')
  return `pixgate ${command}${profile ? ` --profile ${profile}` : ''}`
}

async function contextOf(command: Command, input: Input, out: Output, surroundings: Surroundings): Promise<Context> {
  let read: Settings | undefined
  const context: Context = {
    // Read when it is needed: the first `login` finds no profile.
    get settings() {
      read ??= settingsOf(input, out, surroundings)
      return read
    },
    out,
    surroundings,
    signal: surroundings.signal,
    merchant: async () => {
      const { settings } = context
      const { Pixgate } = await import('@pixgate/sdk')
      return new Pixgate({
        url: addressOf(settings.url),
        apiKey: given(settings.apiKey, 'PIXGATE_API_KEY', 'an API key'),
      })
    },
    operator: async () => {
      const { settings } = context
      const { PixgateOperator } = await import('@pixgate/sdk/operator')
      const token = given(settings.adminToken, 'PIXGATE_ADMIN_TOKEN', 'the token of an operator')
      return new PixgateOperator({ url: addressOf(settings.operatorUrl ?? settings.url), token })
    },
  }
  if (command.moves && !input.flag('live') && !input.flag('dry-run') && (await isLive(command.moves, context)))
    throw refuseLive()
  return context
}

/** Nothing that is printed from now on has the secrets. */
function settingsOf(input: Input, out: Output, surroundings: Surroundings): Settings {
  const file = input.text('secret-file')
  const secret = file === undefined ? undefined : readSecretFile(file)
  const read = readSettings(surroundings, input.text('profile'))
  out.hide([read.apiKey, read.adminToken, secret])
  return { ...read, ...(secret && secretFor(secret)) }
}

/** A file has an API key, or else the token of an operator. */
function secretFor(secret: string): Settings {
  return /^pix_(?:test|live)_/.test(secret) ? { apiKey: secret } : { adminToken: secret }
}

/** Real money, unless a sandbox is certain. @source rules#cli.6 */
async function isLive(moves: NonNullable<Command['moves']>, context: Context): Promise<boolean> {
  const { settings } = context
  const secret = moves === 'merchant' ? settings.apiKey : settings.adminToken
  // Without a secret nothing moves; the command says what is missing.
  if (secret === undefined || isOfSandbox(secret)) return false
  if (moves === 'merchant') return true
  const operator = await context.operator()
  const { mode } = await operator.system.get({ signal: context.signal })
  return mode !== 'sandbox'
}

function given(value: string | undefined, variable: string, what: string): string {
  if (value) return value
  throw usageError(`${what} is missing`, `Set ${variable}, or name a profile (pixgate login), or a --secret-file.`)
}

function addressOf(url: string | undefined): string {
  if (url && URL.canParse(url) && /^https?:\/\//.test(url)) return url
  throw usageError('the address of Pixgate is missing', 'Set PIXGATE_URL, or name a profile (pixgate login).')
}
