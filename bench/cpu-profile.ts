import { once } from 'node:events'

/** Where the time of a Node process goes: a profile by its inspector, as a list of functions and as stacks. */

/** What the profiler of V8 tells. */
export interface Profile {
  readonly nodes: readonly ProfileNode[]
  readonly samples?: readonly number[] | undefined
  /** Microseconds since the sample before. */
  readonly timeDeltas?: readonly number[] | undefined
}

interface ProfileNode {
  readonly id: number
  readonly callFrame: CallFrame
  readonly children?: readonly number[] | undefined
}

interface CallFrame {
  readonly functionName: string
  readonly url: string
  readonly lineNumber: number
}

/** No time of the process: it waits. */
const IDLE = '(idle)'

const SAMPLE_US = 250

/** Watches what a process does meanwhile. @param port of its inspector */
export async function profileDuring(port: number, work: () => Promise<unknown>): Promise<Profile> {
  const [target] = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
    webSocketDebuggerUrl: string
  }[]
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '')
  await once(socket, 'open')
  let last = 0
  const post = async (method: string, params = {}) => {
    const id = ++last
    socket.send(JSON.stringify({ id, method, params }))
    for (;;) {
      const [{ data }] = (await once(socket, 'message')) as [{ readonly data: string }]
      const answer = JSON.parse(data)
      if (answer.id === id) return answer.result
    }
  }
  await post('Profiler.enable')
  await post('Profiler.setSamplingInterval', { interval: SAMPLE_US })
  await post('Profiler.start')
  await work()
  const { profile } = await post('Profiler.stop')
  socket.close()
  return profile
}

/** The share of the process's own time that each function took itself, the costliest first. */
export function selfTimes(profile: Profile): { readonly where: string; readonly share: string }[] {
  const names = new Map(profile.nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]))
  const times = new Map<string, number>()
  for (const [id, us] of sampled(profile)) {
    const name = names.get(id) ?? ''
    times.set(name, (times.get(name) ?? 0) + us)
  }
  const total = [...times.values()].reduce((sum, us) => sum + us, 0)
  return [...times]
    .sort(([, one], [, other]) => other - one)
    .map(([where, us]) => ({ where, share: percent(us / total) }))
}

/** How long each stack was on top, microseconds, by its functions from the outermost on. */
export function stacksOf(profile: Profile): Map<string, number> {
  const parents = new Map(profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])))
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]))
  const stackOf = (id: number): string => {
    const frames: string[] = []
    for (let frame: number | undefined = id; frame !== undefined; frame = parents.get(frame)) {
      const node = nodes.get(frame)
      if (node && node.callFrame.functionName !== '(root)') frames.unshift(nameOf(node.callFrame).replaceAll(';', ','))
    }
    return frames.join(';')
  }
  const stacks = new Map<string, number>()
  for (const [id, us] of sampled(profile)) {
    const stack = stackOf(id)
    stacks.set(stack, (stacks.get(stack) ?? 0) + us)
  }
  return stacks
}

/** Time on the processor by node, microseconds. */
function sampled({ nodes, samples = [], timeDeltas = [] }: Profile): Map<number, number> {
  const idle = new Set(nodes.filter(({ callFrame }) => callFrame.functionName === IDLE).map(({ id }) => id))
  const times = new Map<number, number>()
  for (const [index, id] of samples.entries()) {
    if (!idle.has(id)) times.set(id, (times.get(id) ?? 0) + (timeDeltas[index] ?? 0))
  }
  return times
}

function nameOf({ functionName, url, lineNumber }: CallFrame): string {
  const file = url.split('/').slice(-2).join('/')
  return `${functionName || '(anonymous)'} ${file && `${file}:${lineNumber + 1}`}`.trim()
}

/** A share as text. */
export function percent(share: number): string {
  return `${Math.round(share * 1_000) / 10} %`
}
