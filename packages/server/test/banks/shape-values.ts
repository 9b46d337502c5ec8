import type { Chance } from '../fuzz/chance.ts'

/**
 * Values in every shape that a bank may write them in, and what each means: by the Central Bank's standard (amounts are
 * `\d{1,10}\.\d{2}`, instants RFC 3339, ids 32 letters and digits) and by what real banks were seen to write.
 */

/** Allowed readings of a value: one of these meanings, or none, where that is right too. */
export interface Reading<T> {
  readonly means: readonly T[]
  /** To leave it unread is right. */
  readonly mayBeUnread: boolean
}

/** A value as it stands in an answer. */
export interface Shape<T> {
  readonly json: unknown
  readonly reading: Reading<T>
}

/** Must be read as this; where the standard says more than a number can hold, as one of its neighbours. */
export const exactly = <T>(...means: readonly T[]): Reading<T> => ({ means, mayBeUnread: false })
/** The standard leaves it open: read as this, or not at all. */
export const perhaps = <T>(...means: readonly T[]): Reading<T> => ({ means, mayBeUnread: true })
/** Whatever is made of it is wrong. */
export const UNREADABLE: Reading<never> = { means: [], mayBeUnread: true }

/** A number as a bank writes it: `1e3`, `10.50`. */
export const literal = (text: string): unknown => (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text)

/** In the place of what is so deep that a program that follows it by calls has no stack left. */
const DEEP = '@deep'
const DEPTH = 8_000
const DEEP_TEXT = '['.repeat(DEPTH) + ']'.repeat(DEPTH)

/** The text of an answer. */
export const textOf = (body: unknown): string => JSON.stringify(body)?.replaceAll(`"${DEEP}"`, DEEP_TEXT) ?? ''

/** JSON as it comes over the wire. */
export const asReceived = (body: unknown): unknown => JSON.parse(textOf(body))

/** Nothing of these is text, a number, or what holds one. */
const OTHER_TYPES: readonly unknown[] = [null, undefined, true, false, [], {}, '', ' ']

const fixed = (cents: bigint) => `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`

/** Made of the same centavos, whichever of them the spelling can tell. */
const SPELT_AMOUNTS: readonly ((cents: bigint) => Shape<bigint>)[] = [
  (cents) => ({ json: fixed(cents), reading: exactly(cents) }),
  (cents) => ({ json: literal(fixed(cents)), reading: exactly(cents) }),
  (cents) => ({ json: `${cents / 100n}.${(cents % 100n) / 10n}`, reading: exactly(cents - (cents % 10n)) }),
  (cents) => ({ json: literal(`${cents / 100n}.${(cents % 100n) / 10n}`), reading: exactly(cents - (cents % 10n)) }),
  (cents) => ({ json: `${cents / 100n}`, reading: exactly(cents - (cents % 100n)) }),
  (cents) => ({ json: literal(`${cents / 100n}`), reading: exactly(cents - (cents % 100n)) }),
  (cents) => ({ json: `00${fixed(cents)}`, reading: exactly(cents) }),
  (cents) => ({ json: literal(`${cents}e-2`), reading: perhaps(cents) }),
  (cents) => ({ json: literal(`${fixed(cents)}00`), reading: perhaps(cents) }),
  ...[' ', '\t', '\n', '0', '00', ' BRL'].map((end) => (cents: bigint) => ({
    json: `${fixed(cents)}${end}`,
    reading: perhaps(cents),
  })),
  ...[' ', '+', '\uFEFF', 'R$', 'R$ '].map((start) => (cents: bigint) => ({
    json: `${start}${fixed(cents)}`,
    reading: perhaps(cents),
  })),
  ...['5', '001', '9999999999'].flatMap((more) => [
    (cents: bigint) => ({ json: `${fixed(cents)}${more}`, reading: UNREADABLE }),
    (cents: bigint) => ({ json: literal(`${fixed(cents)}${more.slice(0, 3)}`), reading: UNREADABLE }),
  ]),
  (cents) => ({ json: fixed(cents).replace('.', ','), reading: UNREADABLE }),
  (cents) => ({ json: `1.${fixed(cents).padStart(6, '0').replace('.', ',')}`, reading: UNREADABLE }),
  (cents) => ({ json: `1,${fixed(cents).padStart(6, '0')}`, reading: UNREADABLE }),
  (cents) => ({ json: `-${fixed(cents)}`, reading: UNREADABLE }),
  (cents) => ({ json: literal(`-${fixed(cents)}`), reading: UNREADABLE }),
  (cents) => ({ json: [fixed(cents)], reading: UNREADABLE }),
  (cents) => ({ json: { original: fixed(cents) }, reading: UNREADABLE }),
  (cents) => ({ json: `${fixed(cents)}.0`, reading: UNREADABLE }),
  (cents) => ({ json: `${fixed(cents)}-`, reading: UNREADABLE }),
  (cents) => ({ json: `${fixed(cents)}\u0000`, reading: UNREADABLE }),
]

/** More than the standard has digits for: to the centavo, or not at all. */
const HUGE = [
  '99999999999.99',
  '90071992547409.93',
  '90071992547409.91',
  '9007199254740993',
  '45035996273704.97',
  '4503599627370.49',
  '123456789012345678.12',
  '100000000000000000000000.01',
  `${'9'.repeat(40)}.99`,
  '1'.repeat(5_000),
]

const centsOf = (text: string) => {
  const [whole = '', part = ''] = text.split('.')
  return BigInt(whole + part.padEnd(2, '0'))
}

const AMOUNTS: readonly Shape<bigint>[] = [
  ...HUGE.flatMap((text) => [text, literal(text)].map((json) => ({ json, reading: perhaps(centsOf(text)) }))),
  ...['9999999999.99', '1234567890.12'].flatMap((text) =>
    [text, literal(text)].map((json) => ({ json, reading: exactly(centsOf(text)) })),
  ),
  ...['1e400', '1e308', '-1e400', '1e-7', '-1', '-0.01', '0.001', '5e-324', '10.505'].map((text) => ({
    json: literal(text),
    reading: UNREADABLE,
  })),
  ...['1e3', '1E+3'].map((text) => ({ json: literal(text), reading: perhaps(100_000n) })),
  ...['0', '-0', '0.00', '0e9'].map((text) => ({ json: literal(text), reading: perhaps(0n) })),
  ...['0', '0.00', '-0.00'].map((json) => ({ json, reading: perhaps(0n) })),
  { json: '10.', reading: perhaps(1_000n) },
  { json: '.50', reading: perhaps(50n) },
  ...['1e3', '1E3', '10e-1', '0x10', '0b1', '1_0.00', '1 000.00', '10.5.0', 'NaN', 'Infinity', 'null', '--1.00'].map(
    (json) => ({ json, reading: UNREADABLE }),
  ),
  ...['10,50', '10,5', '1.000', '1.000,50', '.', '-', '+', 'dez', '١٠.٥٠', '１０.５０', '10·50', '10n'].map((json) => ({
    json,
    reading: UNREADABLE,
  })),
  ...OTHER_TYPES.map((json) => ({ json, reading: UNREADABLE })),
]

/** An amount in some shape, of these centavos where the shape can tell them. */
export function amountShape(chance: Chance, cents: bigint): Shape<bigint> {
  return chance.bool(0.6) ? chance.pick(SPELT_AMOUNTS)(cents) : chance.pick(AMOUNTS)
}

/** The same of money that moved: nothing is no movement. */
export function movedShape(chance: Chance, cents: bigint): Shape<bigint> {
  const { json, reading } = amountShape(chance, cents)
  const means = reading.means.filter((value) => value > 0n)
  return { json, reading: { means, mayBeUnread: reading.mayBeUnread || means.length < reading.means.length } }
}

/** An amount as the standard has it. */
export const plainAmount = (cents: bigint): Shape<bigint> => ({ json: fixed(cents), reading: exactly(cents) })

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const ZONES: readonly (readonly [text: string, offsetMs: number])[] = [
  ['Z', 0],
  ['z', 0],
  ['+00:00', 0],
  ['-00:00', 0],
  ['-03:00', -3 * HOUR_MS],
  ['-02:00', -2 * HOUR_MS],
  ['+05:45', 5 * HOUR_MS + 45 * MINUTE_MS],
  ['-12:00', -12 * HOUR_MS],
  ['+14:00', 14 * HOUR_MS],
  ['+23:59', 23 * HOUR_MS + 59 * MINUTE_MS],
]

/** An instant as RFC 3339 allows it. */
function legalInstant(chance: Chance, instantMs: number): Shape<number> {
  const digits = chance.below(13)
  const [zone, offsetMs] = chance.pick(ZONES)
  const local = new Date(instantMs + offsetMs).toISOString().slice(0, 23)
  const [seconds = '', milliseconds = ''] = local.replace('T', chance.pick(['T', 'T', 't', ' '])).split('.')
  const finer = Array.from({ length: Math.max(0, digits - 3) }, () => chance.below(10)).join('')
  const fraction = (milliseconds + finer).slice(0, digits)
  const ms = instantMs - (instantMs % 1_000) + Number(fraction.slice(0, 3).padEnd(3, '0'))
  const isFiner = /[1-9]/.test(fraction.slice(3))
  const reading = isFiner ? exactly(ms, ms + 1) : exactly(ms)
  return { json: `${seconds}${digits === 0 ? '' : `.${fraction}`}${zone}`, reading }
}

/** Against the standard, and still one instant alone. */
const LOOSE_INSTANTS: readonly ((instantMs: number) => Shape<number>)[] = [
  ...(
    [
      ['+0000', 0],
      ['-0300', -3],
      ['+00', 0],
      ['-03', -3],
      ['-3:00', -3],
      [' Z', 0],
      [' +00:00', 0],
      [' UTC', 0],
      [' GMT', 0],
      ['-03:00[America/Sao_Paulo]', -3],
      ['Z ', 0],
      ['Z\n', 0],
    ] as const
  ).map(([zone, hours]) => (instantMs: number) => ({
    json: `${new Date(instantMs + hours * HOUR_MS).toISOString().slice(0, 23)}${zone}`,
    reading: perhaps(instantMs),
  })),
  (instantMs) => ({ json: new Date(instantMs).toISOString().replace('.', ','), reading: perhaps(instantMs) }),
  (instantMs) => ({ json: new Date(instantMs).toISOString().replace('T', '_'), reading: perhaps(instantMs) }),
  (instantMs) => ({ json: ` ${new Date(instantMs).toISOString()}`, reading: perhaps(instantMs) }),
  (instantMs) => ({ json: `+00${new Date(instantMs).toISOString()}`, reading: perhaps(instantMs) }),
  (instantMs) => ({
    json: new Date(instantMs).toISOString().replaceAll(/[-:]|\.\d+/g, ''),
    reading: perhaps(instantMs - (instantMs % 1_000)),
  }),
  (instantMs) => ({ json: new Date(instantMs).toUTCString(), reading: perhaps(instantMs - (instantMs % 1_000)) }),
  (instantMs) => ({
    json: `${new Date(instantMs).toISOString().slice(0, 16)}Z`,
    reading: perhaps(instantMs - (instantMs % MINUTE_MS)),
  }),
  (instantMs) => ({
    json: `${new Date(instantMs).toISOString().slice(0, 20)}Z`,
    reading: perhaps(instantMs - (instantMs % 1_000)),
  }),
  (instantMs) => {
    const next = instantMs - (instantMs % MINUTE_MS) + MINUTE_MS
    return {
      json: `${new Date(instantMs).toISOString().slice(0, 17)}60Z`,
      reading: perhaps(next - 1_000, next - 1, next),
    }
  },
  // Of which no bank is, though they are instants: the defaults of some languages.
  () => ({ json: '0001-01-01T00:00:00Z', reading: perhaps(Date.parse('0001-01-01T00:00:00Z')) }),
  () => ({ json: '9999-12-31T23:59:59Z', reading: perhaps(Date.parse('9999-12-31T23:59:59Z')) }),
  () => ({ json: '1970-01-01T00:00:00Z', reading: perhaps(0) }),
  (instantMs) => {
    const day = instantMs - (instantMs % (24 * HOUR_MS))
    return { json: `${new Date(day).toISOString().slice(0, 10)}T24:00:00Z`, reading: perhaps(day + 24 * HOUR_MS) }
  },
]

/** Of no zone, or of no day: whatever instant is made of these is a guess. */
const NO_INSTANTS: readonly ((instantMs: number) => unknown)[] = [
  (instantMs) => new Date(instantMs).toISOString().slice(0, 23),
  (instantMs) => new Date(instantMs).toISOString().slice(0, 19),
  (instantMs) => new Date(instantMs).toISOString().slice(0, 19).replace('T', ' '),
  (instantMs) => new Date(instantMs).toISOString().slice(0, 10),
  (instantMs) => new Date(instantMs).toISOString().slice(11),
  (instantMs) => instantMs,
  (instantMs) => Math.floor(instantMs / 1_000),
  (instantMs) => String(instantMs),
  (instantMs) => [new Date(instantMs).toISOString()],
  (instantMs) => ({ date: new Date(instantMs).toISOString() }),
  (instantMs) => `${new Date(instantMs).toISOString()}\u0000`,
  (instantMs) => `${new Date(instantMs).toISOString()}Z`,
  (instantMs) => new Date(instantMs).toISOString().replace('Z', '-03:00Z'),
  (instantMs) => new Date(instantMs).toISOString().replace('Z', '+24:00'),
  (instantMs) => new Date(instantMs).toISOString().replace('Z', '-03:60'),
  (instantMs) => new Date(instantMs).toISOString().replace('Z', '-99:99'),
  (instantMs) => new Date(instantMs).toISOString().replace('Z', '\u221203:00'),
  (instantMs) => new Date(instantMs).toISOString().replace('Z', 'BRT'),
  ...[
    '2026-02-30T12:10:00Z',
    '2026-02-29T12:10:00Z',
    '2026-11-31T12:10:00.000Z',
    '2026-13-01T12:10:00Z',
    '2026-00-10T12:10:00Z',
    '2026-11-00T12:10:00Z',
    '2026-11-22T24:30:00Z',
    '2026-11-22T25:00:00Z',
    '2026-11-22T12:60:00Z',
    '2026-11-22T12:10:61Z',
    '2026-1-2T12:10:00Z',
    '26-11-22T12:10:00Z',
    '22/11/2026 12:10:00',
    '11/22/2026 12:10:00',
    '22-11-2026T12:10:00Z',
    '22 nov 2026 12:10',
    'Nov 22, 2026 12:10',
    '2026-W47-7T12:10:00Z',
    '2026-326T12:10:00Z',
    '２０２６-11-22T12:10:00Z',
    'agora',
    '0',
    '2026',
    'Z',
    '0000-00-00T00:00:00Z',
    // No database keeps these.
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-03:00',
    '+010000-01-01T00:00:00Z',
    `2026-11-22T12:10:00.${'0'.repeat(5_000)}`,
  ].map((text) => () => text),
  ...OTHER_TYPES.map((json) => () => json),
]

/** An instant in some shape. */
export function instantShape(chance: Chance, instantMs: number): Shape<number> {
  if (chance.bool(0.5)) return legalInstant(chance, instantMs)
  if (chance.bool(0.5)) return chance.pick(LOOSE_INSTANTS)(instantMs)
  return { json: chance.pick(NO_INSTANTS)(instantMs), reading: UNREADABLE }
}

/** An instant as the standard's own examples have it. */
export const plainInstant = (instantMs: number): Shape<number> => ({
  json: new Date(instantMs).toISOString(),
  reading: exactly(instantMs),
})

/** Which database keeps these? None: they may not get any further. */
const UNKEEPABLE = ['\u0000', '\uD800', '\uDC00x']

/** An id by which money is known, in some shape: text alone names anything, and no two things the same. */
export function idShape(chance: Chance, id: string): Shape<string> {
  if (chance.bool(0.3)) return { json: id, reading: exactly(id) }
  const loose = [
    id.slice(0, 31),
    `${id}A`,
    `${id}ABC`,
    id.toLowerCase(),
    `${id.slice(0, 30)}-x`,
    `${id.slice(0, 30)}é`,
    ` ${id}`,
    `${id} `,
    `${id}\n`,
  ]
  if (chance.bool(0.5)) {
    const json = chance.pick(loose)
    return { json, reading: perhaps(json, id) }
  }
  const none: readonly unknown[] = [
    ...OTHER_TYPES,
    12345678901234,
    [id],
    { id },
    ...UNKEEPABLE.map((end) => id.slice(0, 31) + end),
    id.repeat(200),
  ]
  return { json: chance.pick(none), reading: UNREADABLE }
}

/** Members without a meaning for the money beside them: optional, or unknown to the standard. */
export function noise(chance: Chance): Record<string, unknown> {
  const made: Record<string, unknown> = {}
  for (let left = chance.below(4); left > 0; left--) {
    const [name, values] = chance.pick(INFORMATION)
    made[name] = chance.pick(values)
  }
  if (chance.bool(0.3)) Object.assign(made, { [chance.pick(STRANGE_NAMES)]: chance.pick(STRANGE_VALUES) })
  // Assignment would set the prototype in place of a member.
  if (chance.bool(0.1))
    Object.defineProperty(made, '__proto__', { value: { valor: '9.99', status: 'DEVOLVIDO' }, enumerable: true })
  return made
}

/** A name and a document that stand in items: no case may keep them. */
export const PERSON = { nome: 'Maria da Silva', cpf: '52998224725' } as const

const PEOPLE: readonly unknown[] = [
  PERSON,
  { nome: PERSON.nome },
  { cpf: PERSON.cpf },
  { ...PERSON, cpf: '***.982.247-**' },
  { nome: PERSON.nome, cnpj: '12ABC34501DE35' },
  { nome: null, cpf: null },
  { nome: 12, cpf: 52998224725 },
  { nome: [], cpf: {} },
  null,
  {},
  [],
  [PERSON],
  PERSON.nome,
  7,
]

const INFORMATION: readonly (readonly [name: string, values: readonly unknown[]])[] = [
  ['pagador', PEOPLE],
  ['infoPagador', [null, '', 'aluguel', 12, 1.5, true, {}, [], 'a\u0000b', '\uD800', 'x'.repeat(10_000)]],
  [
    'componentesValor',
    [null, {}, [], 'x', { original: { valor: '1.00' } }, { original: { valor: null } }, { original: 1 }],
  ],
  [
    'gnExtras',
    [null, {}, [], 'x', 0, { pagador: PERSON }, { pagador: null }, { pagador: { nome: 1 } }, { tarifa: '0.10' }],
  ],
  ['pixAgente', [null, {}, 'AGTEC']],
  ['chave', [null, '', 7, {}, 'outra@exemplo.com.br']],
  ['descricao', [null, '', 7, {}]],
  ['motivo', [null, '', 7, {}]],
]

const STRANGE_NAMES = [
  ...['constructor', 'toString', 'hasOwnProperty', 'toJSON', 'then', 'length', 'Valor', 'VALOR', 'valor '],
  ...['EndToEndId', 'end_to_end_id', 'Horario', 'é', '', '0', 'nome\u0000', '~1/~0'],
]

const STRANGE_VALUES: readonly unknown[] = [
  null,
  '',
  '9.99',
  9.99,
  [],
  {},
  { endToEndId: 'E', valor: '9.99' },
  [[[[{ valor: '9.99' }]]]],
  DEEP,
  { valor: DEEP },
]
