import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { formats } from '../../../src/platform/http/request.ts'

test('[http.7] a date is a day of the calendar', () => {
  for (const day of ['2026-01-01', '2024-02-29', '2000-02-29', '9999-12-31', '0001-01-01']) {
    assert.ok(formats.date(day), day)
  }
  for (const text of [
    ...['2026-02-29', '1900-02-29', '2026-02-30', '2026-04-31', '2026-13-01', '2026-00-01', '2026-01-00'],
    ...['0000-01-01', '2026-1-01', '20260101', '2026-01-01 ', '2026-01-01T00:00:00Z', '+002026-01-01', '٢٠٢٦-01-01'],
    ...[''],
  ]) {
    assert.ok(!formats.date(text), text)
  }
})

test('[http.7] a date-time has a day, a time and an offset', () => {
  for (const instant of ['2026-11-21T13:15:00Z', '2026-11-21T23:59:59.123456789Z', '2026-11-21T00:00:00-03:00']) {
    assert.ok(formats['date-time'](instant), instant)
  }
  for (const text of [
    ...['2026-11-21', '2026-11-21T13:15:00', '2026-11-21 13:15:00Z', '2026-11-21T24:00:00Z', '2026-11-21T13:60:00Z'],
    ...['2026-11-21T13:15:60Z', '2026-02-30T13:15:00Z', '2026-11-21T13:15Z', '2026-11-21T13:15:00.Z'],
    ...['2026-11-21T13:15:00.1234567890Z', '2026-11-21T13:15:00+24:00', '2026-11-21t13:15:00z'],
  ]) {
    assert.ok(!formats['date-time'](text), text)
  }
})

test('[http.7] every instant that toISOString writes between the years 1 and 9999 is a date-time, and its day a date', () => {
  const between = { min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59.999Z') }
  fc.assert(
    fc.property(fc.date({ ...between, noInvalidDate: true }), (instant) => {
      assert.ok(formats['date-time'](instant.toISOString()))
      assert.ok(formats.date(instant.toISOString().slice(0, 10)))
    }),
  )
})

test('[http.7] a uuid is in its canonical form, either case', () => {
  assert.ok(formats.uuid('0198c0de-7a11-7000-8000-5f1d3c2b1a09'))
  assert.ok(formats.uuid('0198C0DE-7A11-7000-8000-5F1D3C2B1A09'))
  assert.ok(!formats.uuid('0198c0de7a11700080005f1d3c2b1a09'))
  assert.ok(!formats.uuid('{0198c0de-7a11-7000-8000-5f1d3c2b1a09}'))
})
