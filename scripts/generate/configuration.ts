import { configTable, type Variable } from '../../packages/server/src/config.ts'
import { code, GENERATED, type GeneratedDocument, markdown, table } from './document.ts'

const variables: readonly Variable[] = configTable

/** Every environment variable the server reads. */
export function configurationDocument(): GeneratedDocument {
  return markdown(
    'docs/generated/config.md',
    'Configuration',
    'Environment variables of the server. All faults are told at once at the start; secrets are never shown.',
    table(
      ['variable', 'default', 'range', 'in production', 'secret', 'what it is'],
      variables.map((it) => [
        code(it.name),
        it.default,
        it.range,
        it.requiredInProduction && 'required',
        it.secret && 'yes',
        it.description,
      ]),
    ),
  )
}

/** The same as a file to copy to `.env`: every variable, switched off. */
export function environmentExample(): GeneratedDocument {
  const blocks = variables.map(({ name, description, default: value, range }) =>
    [
      `# ${description}`,
      ...(value === undefined ? [] : [`# Default: ${value}`]),
      ...(range === undefined ? [] : [`# Range: ${range}`]),
      `# ${name}=`,
    ].join('\n'),
  )
  return { path: '.env.example', content: `${[`# ${GENERATED}`, ...blocks].join('\n\n')}\n` }
}
