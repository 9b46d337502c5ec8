/** Where programs are, and where Node.js keeps what it compiled, which halves the time of a start. */
const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env

/** What a program is started with besides the settings that a test gives it, and nothing else. */
export const PROGRAM_ENVIRONMENT = { PATH, NODE_COMPILE_CACHE } as const
