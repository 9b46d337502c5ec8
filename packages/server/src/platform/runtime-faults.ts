import { url as inspectorUrl } from 'node:inspector'
import type { Environment } from './variable-table.ts'

/** How this Node.js was started. */
export interface Runtime {
  /** Before the program's name. */
  readonly flags: readonly string[]
  /** Where a debugger may connect; `undefined`: nowhere. */
  readonly debuggerUrl: string | undefined
}

/** Of this process. */
function thisRuntime(): Runtime {
  return { flags: process.execArgv, debuggerUrl: inspectorUrl() }
}

/**
 * What of Node.js's own settings takes away what production promises, each with its name.
 * @source rules#production.5
 */
export function runtimeFaults(environment: Environment, runtime: Runtime = thisRuntime()): string[] {
  const faults = [
    ...variableFaults(environment),
    ...runtime.flags.flatMap((flag) => flagFaults(flag, 'on the command line')),
    ...optionsIn(environment.NODE_OPTIONS).flatMap((flag) => flagFaults(flag, 'in NODE_OPTIONS')),
  ]
  if (runtime.debuggerUrl === undefined || faults.some((fault) => fault.endsWith(DEBUGGER))) return faults
  return [...faults, `a debugger is open in this process: ${DEBUGGER}`]
}

/** Any other value than 1 was meant to switch it off. */
function variableFaults({ NODE_TLS_REJECT_UNAUTHORIZED, NODE_DEBUG }: Environment): string[] {
  const isVerifying = !NODE_TLS_REJECT_UNAUTHORIZED || NODE_TLS_REJECT_UNAUTHORIZED === '1'
  return [
    ...(isVerifying
      ? []
      : ['NODE_TLS_REJECT_UNAUTHORIZED must not be set: the bank, receivers and the database are verified']),
    ...(NODE_DEBUG ? ['NODE_DEBUG must not be set: it prints what is sent and received'] : []),
  ]
}

const DEBUGGER = 'whoever connects reads every secret and runs what they like'

/** Beginnings of flags, and what each would do. */
const REFUSED: readonly (readonly [pattern: RegExp, consequence: string])[] = [
  [/^(inspect|debug)(-|$)/, DEBUGGER],
  [/^insecure-http-parser$/, 'two servers could read one request as two'],
  [/^tls-(keylog|min-v1\.[01]$)/, 'others could read along'],
  [/^trace-tls$/, 'it prints what is sent and received'],
  [/^(heapsnapshot-|heap-prof|report-)/, 'it writes secrets to a file'],
  [/^experimental-(default-)?config-file$/, 'flags that nobody looks at could stand there'],
]

function flagFaults(flag: string, where: string): string[] {
  const name = nameOf(flag)
  const consequence = REFUSED.find(([pattern]) => name !== undefined && pattern.test(name))?.[1]
  return consequence === undefined ? [] : [`--${name} must not be set ${where}: ${consequence}`]
}

/** As Node.js reads it: `_` is `-`, and what follows `=` is its value. */
function nameOf(flag: string): string | undefined {
  return /^--?([a-z][\w.-]*)/i.exec(flag)?.[1]?.replaceAll('_', '-').toLowerCase()
}

/** Node.js lets quotes and backslashes stand anywhere in it. */
function optionsIn(text = ''): string[] {
  return text.replace(/["\\]/g, '').split(/\s+/)
}
