import fc from 'fast-check'
import { object, objectsOf, PIX_ACCOUNT, PIX_LOCATION, PIX_RECURRENCE, PUBLISHED, signed } from './codes.ts'

type Objects = readonly (readonly [id: string, value: string, length?: number])[]
type Change = (objects: Objects) => Objects

const id = fc.constantFrom(...'00 01 02 03 04 05 25 26 27 51 52 54 62 65 80 81'.split(' '))
const value = fc.constantFrom(
  '',
  ...'0 01 12 13 BR PT 986 840 0000 5411 food *** ORDER6304 12345678 0.00 10 10.5 10.50 10,50 -1.00 1e2'.split(' '),
  ...'br.gov.bcb.pix BR.GOV.BCB.PIX BR.COM.OUTRO pix@example.com pix.example.com/1 https://a.b/1'.split(' '),
  ...[PIX_ACCOUNT, PIX_LOCATION, PIX_RECURRENCE],
)

/** One object left out, moved, added, renamed, filled with another value, or with a length that is not its own. */
const change: fc.Arbitrary<Change> = fc
  .record({ from: fc.nat(), to: fc.nat(), id, value, excess: fc.constantFrom(-1, 1, 90) })
  .chain(({ from, to, id, value, excess }) => {
    const changeOne = (apply: (one: Objects[number]) => Objects): Change => {
      return (objects) => objects.flatMap((one, index) => (index === from % objects.length ? apply(one) : [one]))
    }
    return fc.constantFrom<Change[]>(
      changeOne(() => []),
      (objects) =>
        objects.toSorted(([left], [right]) => ((Number(left) + from) % 100) - ((Number(right) + from) % 100)),
      (objects) => objects.toSpliced(to % (objects.length + 1), 0, [id, value]),
      changeOne(([, value]) => [[id, value]]),
      changeOne(([id]) => [[id, value]]),
      changeOne(([id, value]) => [[id, value, value.length + excess]]),
    )
  })

const changeWithin: fc.Arbitrary<Change> = fc.tuple(fc.constantFrom('26', '62', '80'), change).map(
  ([template, apply]) =>
    (objects) =>
      objects.map(([id, value]) => [id, id === template ? written(apply(objectsOf(value))) : value]),
)

/** What comes after the objects: mostly a true CRC. */
const ending: fc.Arbitrary<(body: string) => string> = fc.oneof(
  { weight: 20, arbitrary: fc.constant(signed) },
  fc.constantFrom<((body: string) => string)[]>(
    (body) => `${body}6304ABCD`,
    (body) => `${body}6304`,
    (body) => body,
    (body) => signed(body).slice(0, -1),
    (body) => `${signed(body)}\n`,
    (body) => signed(body).slice(0, -4) + signed(body).slice(-4).toLowerCase(),
  ),
)

/** One character typed wrong. */
const typo: fc.Arbitrary<(text: string) => string> = fc.tuple(fc.nat(), fc.constantFrom(...'0123456789AZaz .,+*')).map(
  ([at, character]) =>
    (text) =>
      text.slice(0, at % text.length) + character + text.slice((at % text.length) + 1),
)

/**
 * Published codes with a few changes in their templates, objects, characters and CRC. Without hyphens: a length such as
 * `-4` holds emvqr for ever.
 */
export function changedCodes(category: string): fc.Arbitrary<string> {
  const base = fc
    .constantFrom(...Object.values(PUBLISHED))
    .map((code) => code.replaceAll('-', 'x').replace('52040000', `5204${category}`))
  const none = fc.constant(<Value>(value: Value) => value)
  const perhaps = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.oneof({ weight: 3, arbitrary: none }, arbitrary)
  return fc
    .tuple(base, fc.tuple(fc.oneof(none, changeWithin), fc.oneof(none, change), perhaps(change)), perhaps(typo), ending)
    .map(([code, changes, mistype, end]) => {
      const objects = objectsOf(code.slice('000201'.length, -'6304ABCD'.length))
      return end(mistype(`000201${written(changes.reduce<Objects>((changed, apply) => apply(changed), objects))}`))
    })
}

function written(objects: Objects): string {
  return objects.map(([id, value, length]) => object(id, value, length)).join('')
}
