import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where programs are, and Node's own place for what it compiled, which halves the time of a start. */
const { PATH = '', NODE_COMPILE_CACHE = join(tmpdir(), 'node-compile-cache') } = process.env

/** What a program is started with besides the settings that a test gives it, and nothing else. */
export const PROGRAM_ENVIRONMENT = { PATH, NODE_COMPILE_CACHE } as const
