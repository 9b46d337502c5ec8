import { basename } from 'node:path'

/**
 * Command of a program, as the reader of a message can run it: `pixgate` in an installation, npm's script in a checkout.
 * @param program its name, and its parameters
 * @param started path of this process's own program
 * @source rules#doctor.8
 */
export function commandOf(program: string, started: string | undefined = process.argv[1]): string {
  if (basename(started ?? '') === 'pixgate.mjs') return `pixgate ${program}`
  const [name, ...parameters] = program.split(' ')
  return ['npm run', name, ...(parameters.length > 0 ? ['--', ...parameters] : [])].join(' ')
}
