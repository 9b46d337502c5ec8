import { type Command, GLOBAL_OPTIONS, type Option } from './command.ts'
import { EXIT_MEANINGS, EXITS, type Exit } from './failure.ts'

/** All commands, or those that begin with some words. */
export function overview(commands: readonly Command[], words: readonly string[] = []): string {
  const shown = commands.filter(({ name }) => words.every((word, place) => name.split(' ')[place] === word))
  const [only] = shown
  if (only && shown.length === 1) return helpOf(only)
  const lines = shown.map(
    ({ name, arguments: given, says }) => [synopsis({ name, arguments: given ?? [] }), says] as const,
  )
  return `Usage: pixgate COMMAND

${columns(lines)}

Options of every command:
${columns(Object.entries(GLOBAL_OPTIONS).map(optionLine))}

Settings: PIXGATE_URL and PIXGATE_API_KEY; for operators PIXGATE_ADMIN_TOKEN, and PIXGATE_OPERATOR_URL if it differs. Or a profile.
Exit codes: ${exitCodes()}.
More about one: pixgate COMMAND --help`
}

export function helpOf(command: Command): string {
  const { name, says, more = [], arguments: given = [], options = {}, examples } = command
  const lines = [
    ...given.map((argument) => [argument.name, argument.says] as const),
    ...Object.entries(options).map(optionLine),
  ]
  const parts = [
    `Usage: pixgate ${synopsis(command)}`,
    [capital(says), ...more].join('\n'),
    ...(lines.length > 0 ? [columns(lines)] : []),
    `Options of every command: ${Object.keys(GLOBAL_OPTIONS)
      .map((option) => `--${option}`)
      .join(' ')}`,
    ...(examples.length > 0 ? [examples.map((example) => `  $ ${example}`).join('\n')] : []),
  ]
  return name === '' ? '' : parts.join('\n\n')
}

/** `refund create CHARGE --value REAIS --external-id TEXT [options]` */
function synopsis({
  name,
  arguments: given = [],
  options = {},
}: Pick<Command, 'name' | 'arguments' | 'options'>): string {
  const words = given.map(({ name: word, isOptional }) => (isOptional ? `[${word}]` : word))
  const needed = Object.entries(options).filter(([, { isRequired }]) => isRequired)
  const parts = needed.map(([option, { value }]) => `--${option} ${value}`)
  const hasMore = Object.keys(options).length > needed.length
  return [name, ...words, ...parts, ...(hasMore ? ['[options]'] : [])].join(' ')
}

function exitCodes(): string {
  return (Object.keys(EXITS) as Exit[]).map((exit) => `${EXITS[exit]} ${EXIT_MEANINGS[exit]}`).join(', ')
}

function optionLine([name, { value, says, isRequired }]: readonly [string, Option]) {
  return [`--${name}${value ? ` ${value}` : ''}`, `${says}${isRequired ? ' (needed)' : ''}`] as const
}

/** In two columns; a left part that is too long stands alone. */
function columns(lines: readonly (readonly [string, string])[]): string {
  const width = Math.min(34, Math.max(...lines.map(([left]) => left.length)))
  return lines
    .map(
      ([left, right]) => `  ${left.length > width ? `${left}\n  ${' '.repeat(width)}` : left.padEnd(width)}  ${right}`,
    )
    .join('\n')
}

function capital(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`
}
