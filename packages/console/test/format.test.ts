import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  centsOf,
  csvOf,
  dayKey,
  daysBefore,
  formatOf,
  instantOfMinute,
  minuteKey,
  reais,
  signedReais,
} from '../src/format.ts'

test('amounts are written as Brazilians write them, also negative ones', () => {
  assert.deepEqual([0, 5, 123456, -123456, 999999999999].map(reais), [
    'R$\u00a00,00',
    'R$\u00a00,05',
    'R$\u00a01.234,56',
    '−R$\u00a01.234,56',
    'R$\u00a09.999.999.999,99',
  ])
  assert.equal(signedReais(100), '+R$\u00a01,00')
})

test('a typed amount is read exactly, or not at all', () => {
  const read = ['1.234,56', '1234,5', 'R$ 12', '0,01', '12.345.678,90'].map(centsOf)
  assert.deepEqual(read, [123456, 123450, 1200, 1, 1234567890])
  const refused = ['', '1,234.56', '12.34', '1,005', '-5', '1e3', 'abc', '99999999999999999999'].map(centsOf)
  assert.deepEqual(new Set(refused), new Set([undefined]))
})

test('days are days of America/Sao_Paulo', () => {
  assert.equal(dayKey('2026-11-22T02:59:59.999Z'), '2026-11-21')
  assert.equal(dayKey('2026-11-22T03:00:00.000Z'), '2026-11-22')
  assert.equal(daysBefore('2026-03-01', 1), '2026-02-28')
  const { moment, time } = formatOf('pt-BR')
  assert.equal(moment('2026-11-22T02:05:09.000Z'), '21/11/2026 23:05')
  assert.equal(time('2026-11-22T03:00:00.000Z'), '00:00:00')
})

test('a typed minute is one of America/Sao_Paulo', () => {
  const instant = instantOfMinute('2026-11-21T10:15')
  assert.deepEqual([instant, minuteKey(Date.parse(instant ?? ''))], ['2026-11-21T13:15:00.000Z', '2026-11-21T10:15'])
  assert.equal(instantOfMinute('2018-12-01T10:15'), '2018-12-01T12:15:00.000Z')
  assert.equal(instantOfMinute(''), undefined)
})

test('no field of a CSV is a formula, and an amount stays a number', () => {
  assert.equal(
    csvOf([['=1+1', '@a', '-1.234,56', '-cmd', 'a;b', 'say "x"']]),
    '\ufeff\'=1+1;\'@a;-1.234,56;\'-cmd;"a;b";"say ""x"""\r\n',
  )
  assert.equal(csvOf([[' =1+1', '\uff1d1+1', '\uff0bcmd']]), "\ufeff' =1+1;'\uff1d1+1;'\uff0bcmd\r\n")
})
