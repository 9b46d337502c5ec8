import { type Command, GLOBAL_OPTIONS } from './command.ts'
import { usageError } from './failure.ts'

const SHELLS = { bash, zsh, fish } as const

/** The command that prints a script for a shell, made of the table. */
export function completionCommand(commands: readonly Command[]): Command {
  const own: Command = {
    name: 'completion',
    says: 'print a script that completes commands and options',
    more: ['bash: source <(pixgate completion bash); zsh: the same; fish: pixgate completion fish | source'],
    arguments: [{ name: 'SHELL', says: 'bash, zsh or fish' }],
    examples: ['pixgate completion bash'],
    run: async (input, { out }) => {
      const shell = input.word(0)
      if (!Object.hasOwn(SHELLS, shell)) throw usageError('there is no such shell', 'Known: bash, zsh, fish.')
      const script = SHELLS[shell as keyof typeof SHELLS](entriesOf([...commands, own]))
      if (out.isJson) out.show({ shell, script })
      else out.raw(script)
    },
  }
  return own
}

/** Possible next words, by the words before them. */
type Entries = ReadonlyMap<string, readonly string[]>

function entriesOf(commands: readonly Command[]): Entries {
  const entries = new Map<string, readonly string[]>()
  const add = (words: string, next: readonly string[]) =>
    entries.set(words, [...new Set([...(entries.get(words) ?? []), ...next])])
  for (const { name, options = {} } of commands) {
    const words = name.split(' ')
    words.forEach((word, place) => void add(words.slice(0, place).join(' '), [word]))
    add(
      name,
      [...Object.keys(options), ...Object.keys(GLOBAL_OPTIONS)].map((option) => `--${option}`),
    )
  }
  return entries
}

function bash(entries: Entries): string {
  const cases = [...entries].map(([words, next]) => `    '${words}') known='${next.join(' ')}' ;;`)
  return `_pixgate() {
  local known='' words='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) [ -n "$words" ] && words="$words $word" || words="$word" ;; esac
  done
  while :; do
    case "$words" in
${cases.map((line) => `  ${line}`).join('\n')}
    esac
    [ -n "$known" ] || [ -z "$words" ] && break
    case "$words" in *' '*) words="\${words% *}" ;; *) words='' ;; esac
  done
  COMPREPLY=($(compgen -W "$known" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _pixgate pixgate`
}

function zsh(entries: Entries): string {
  return `autoload -U +X bashcompinit && bashcompinit\n${bash(entries)}`
}

function fish(entries: Entries): string {
  const lines = [...entries].flatMap(([words, next]) => {
    const seen = words
      .split(' ')
      .filter(Boolean)
      .map((word) => `__fish_seen_subcommand_from ${word}`)
    const condition = seen.length > 0 ? seen.join('; and ') : '__fish_use_subcommand'
    return next.map((word) =>
      word.startsWith('--')
        ? `complete -c pixgate -n '${condition}' -l ${word.slice(2)}`
        : `complete -c pixgate -f -n '${condition}' -a ${word}`,
    )
  })
  return lines.join('\n')
}
