import assert from 'node:assert/strict'
import test from 'node:test'
import { chanceOf } from './chance.ts'
import { jsonText, spoil } from './spoiled-json.ts'

test('[http.11] a value that was spoiled before can be spoiled again, whatever became of its text', () => {
  const holders = ['{"toString":1}', '{"valueOf":null,"toString":null}', '{"__proto__":null,"a":[{"toString":"x"}]}']
  for (const make of [
    ...holders.map((json) => () => JSON.parse(json)),
    () => Object.assign(Object.create(null), { a: 1 }),
  ]) {
    for (let seed = 0; seed < 500; seed += 1) {
      assert.ok(jsonText(spoil(make(), {}, chanceOf(seed))))
    }
  }
})
