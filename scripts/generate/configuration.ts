import { sandboxVariables } from '../../packages/sandbox/src/config.ts'
import { banks } from '../../packages/server/src/banks/banks.ts'
import { serviceVariables } from '../../packages/server/src/config.ts'
import { fileVariable } from '../../packages/server/src/platform/secrets.ts'
import { acceptedBy, type Variable, type Variables } from '../../packages/server/src/platform/variables.ts'
import { code, GENERATED, type GeneratedDocument, markdown, table } from './document.ts'

const sections: readonly { readonly title: string; readonly variables: Variables }[] = [
  { title: 'The server', variables: serviceVariables },
  ...Object.values(banks),
  { title: 'The sandbox', variables: sandboxVariables },
]

const REQUIRED = { always: 'yes', 'in production': 'in production' } as const

export function configurationDocument(): GeneratedDocument {
  return markdown(
    'docs/generated/config.md',
    'Configuration',
    'All faults are told at once at the start; secrets are never shown. The sandbox, which `npm start` runs, makes whatever is required outside of production and not set. A variable that begins with `PIXGATE_` and is not here is refused.',
    'A secret may stand in a file instead: the variable beside it, which ends in `_FILE`, takes its path.',
    ...sections.flatMap(({ title, variables }) => [`## ${title}`, variableTable(variables)]),
  )
}

function variableTable(variables: Variables): string {
  return table(
    ['variable', 'default', 'what it accepts', 'required', 'secret', 'what it is'],
    Object.entries(variables).map(([name, row]) => [
      code(name),
      defaultOf(row),
      acceptedOf(row),
      row.required && REQUIRED[row.required],
      row.secret && `or ${code(fileVariable(name))}`,
      row.description,
    ]),
  )
}

function defaultOf({ default: value, productionDefault }: Variable): string | undefined {
  return productionDefault === undefined ? value : `${value}, in production ${productionDefault}`
}

function acceptedOf({ shape, productionShape }: Variable): string | undefined {
  const accepted = acceptedBy(shape)
  if (productionShape === undefined) return accepted
  const inProduction = `in production ${acceptedBy(productionShape)}`
  return accepted === undefined ? inProduction : `${accepted}; ${inProduction}`
}

/** First in the example, with those that production requires. */
const FIRST: ReadonlySet<string> = new Set(['PIXGATE_MODE', 'PIXGATE_BANK', 'PIXGATE_MIGRATION_URL'])

const LINE = `# ${'-'.repeat(118)}`

/** `.env.example`: all variables commented out, the required ones first. */
export function environmentExample(): GeneratedDocument {
  const isNeeded = ([name, { required }]: [string, Variable]) => FIRST.has(name) || required !== undefined
  const needed = Object.entries(serviceVariables as Variables).filter(isNeeded)
  const rest = sections
    .flatMap(({ variables }) => Object.entries(variables))
    .filter(([name]) => !needed.some(([first]) => first === name))
  const blocks = [
    `# ${GENERATED}`,
    '# An installation needs these, and the settings of its bank below.',
    ...needed.map(exampleOf),
    `${LINE}\n# The settings of banks, and what has a default that serves most installations.\n${LINE}`,
    ...rest.map(exampleOf),
  ]
  return { path: '.env.example', content: `${blocks.join('\n\n')}\n` }
}

function exampleOf([name, row]: [string, Variable]): string {
  const [value, accepted] = [defaultOf(row), acceptedOf(row)]
  return [
    `# ${row.description}`,
    ...(value ? [`# Default: ${value}`] : []),
    ...(accepted === undefined ? [] : [`# Accepts: ${accepted}`]),
    `# ${name}=`,
    ...(row.secret ? [`# ${fileVariable(name)}=`] : []),
  ].join('\n')
}
