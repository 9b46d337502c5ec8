import { type Line, type Machine, rowsOfLine } from '@pixgate/spec'

/** A table with one change. */
export interface Mutant {
  /** Rule, trigger, states and change. */
  readonly name: string
  readonly rows: Machine['rows']
}

/** A change of a line; `undefined` removes it. */
interface Break {
  readonly what: string
  readonly line: Line | undefined
}

export function mutantsOf(machine: Machine): Mutant[] {
  const { lines, resource } = machine
  return lines.flatMap((line, index) =>
    breaksOf(line, machine).map((broken) => ({
      name: `${resource} [${line.rule}] ${listOf(line.on)} in ${listOf(line.from)}: ${broken.what}`,
      rows: lines
        .flatMap((other, at) => (at === index ? (broken.line ?? []) : other))
        .flatMap((other) => rowsOfLine(other)),
    })),
  )
}

function breaksOf(line: Line, machine: Machine): Break[] {
  const { from, when, unless } = line
  const [conditions, exceptions, places] = [listOf(when), listOf(unless), listOf(from)]
  // Creates are decided by another function.
  if (from === null) return []
  return [
    { what: 'removed', line: undefined },
    ...conditions.flatMap((guard) => [
      { what: `«${guard}» dropped`, line: { ...line, when: without(conditions, guard) } },
      {
        what: `«${guard}» negated`,
        line: { ...line, when: without(conditions, guard), unless: [...exceptions, guard] },
      },
    ]),
    ...exceptions.flatMap((guard) => [
      { what: `«not: ${guard}» dropped`, line: { ...line, unless: without(exceptions, guard) } },
      {
        what: `«not: ${guard}» negated`,
        line: { ...line, unless: without(exceptions, guard), when: [...conditions, guard] },
      },
    ]),
    ...(places.length > 1
      ? places.map((place) => ({ what: `not in ${place}`, line: { ...line, from: without(places, place) } }))
      : []),
    ...(listOf(line.decides).length > 1
      ? listOf(line.decides).map((kind) => ({
          what: `not for ${kind}`,
          line: { ...line, decides: without(listOf(line.decides), kind) },
        }))
      : []),
    ...otherTargets(line, machine).map((target) => ({ what: `to ${target}`, line: { ...line, to: target } })),
    ...(['posts', 'emits', 'opens', 'asks', 'decides'] as const)
      .filter((effect) => line[effect] !== undefined)
      .map((effect) => ({ what: `without ${effect}`, line: lineWithout(line, effect) })),
  ]
}

/** Another state, and the same state with another reason or none. */
function otherTargets({ from, to }: Line, { states, reasons }: Machine): Line['to'][] {
  if (to === 'ignored') return ['same']
  const [state = '', reason] = to.split(':')
  const places = listOf(from).map((place) => place.split(':')[0])
  const other = states.find((candidate) => candidate !== state && !places.includes(candidate)) ?? states.at(-1) ?? state
  const otherReason = Object.keys(reasons).find((candidate) => candidate !== reason)
  return [other, 'ignored', ...(reason === undefined || otherReason === undefined ? [] : [`${state}:${otherReason}`])]
}

function lineWithout(line: Line, effect: 'posts' | 'emits' | 'opens' | 'asks' | 'decides'): Line {
  const { [effect]: _, ...rest } = line
  return rest
}

function without<T>(all: readonly T[], one: T): T[] {
  return all.filter((it) => it !== one)
}

function listOf<T>(given: T | readonly T[] | null | undefined): readonly T[] {
  if (given === undefined || given === null) return []
  return Array.isArray(given) ? given : [given as T]
}
