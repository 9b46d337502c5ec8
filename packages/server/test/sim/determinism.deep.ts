import assert from 'node:assert/strict'
import test from 'node:test'
import { replay } from './programme.ts'

test('[P4] a seed of the simulation tells the same events, byte for byte', async () => {
  for (const seed of [3, 4, 10, 19]) {
    const [first, second] = [await sentencesOf(seed), await sentencesOf(seed)]
    assert.ok(first.length > 1_000, `seed ${seed} tells ${first.length} events`)
    assert.equal(second.join('\n'), first.join('\n'))
  }
  assert.notEqual((await sentencesOf(3)).join('\n'), (await sentencesOf(5)).join('\n'))
})

async function sentencesOf(seed: number): Promise<string[]> {
  const sentences: string[] = []
  await replay(seed, (sentence) => sentences.push(sentence))
  return sentences
}
