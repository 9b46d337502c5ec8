import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { ROOT } from './repository.ts'

/**
 * Runs a tool of `node_modules/.bin`.
 * @returns the lines of its output if it fails
 */
export function failureLinesOf(tool: string, ...args: readonly string[]): Promise<string[]> {
  return new Promise((resolve) => {
    const options = { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 }
    execFile(join(ROOT, 'node_modules/.bin', tool), args, options, (error, stdout, stderr) => {
      const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line.trim() !== '')
      resolve(error === null ? [] : lines.length > 0 ? lines : [error.message])
    })
  })
}
