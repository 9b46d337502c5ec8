import assert from 'node:assert/strict'
import { appendFile, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { Journal } from '../src/journal.ts'
import { bankDirectory } from './support/bank.ts'

test('[partner-protocol] lines come back in order, whatever they hold', async (t) => {
  const path = join(await bankDirectory(t), 'deeper', 'lines')
  const { journal, lines } = await Journal.open(path)
  assert.deepEqual([...lines], [])
  const written = ['a', '', 'João ☕', 'x'.repeat(100_000)]
  for (const line of written) journal.append(line)
  await journal.close()
  const again = await Journal.open(path)
  assert.deepEqual([...again.lines], written)
  await again.journal.close()
})

test('[partner-protocol] only the owner may read the book', { skip: process.platform === 'win32' }, async (t) => {
  const path = join(await bankDirectory(t), 'lines')
  await (await Journal.open(path)).journal.close()
  assert.equal((await stat(path)).mode & 0o777, 0o600)
})

test('[partner-protocol] what was flushed is in the file; what comes meanwhile follows', async (t) => {
  const path = join(await bankDirectory(t), 'lines')
  const { journal } = await Journal.open(path)
  const expected: string[] = []
  const flushes = Array.from({ length: 200 }, async (_, index) => {
    journal.append(String(index))
    expected.push(String(index))
    await journal.flushed()
    assert.ok((await readFile(path, 'utf8')).split('\n').includes(String(index)))
  })
  await Promise.all(flushes)
  assert.equal(await readFile(path, 'utf8'), expected.map((line) => `${line}\n`).join(''))
  await journal.close()
})

test('[partner-protocol] what nobody waits for is in the file in a moment, each time', async (t) => {
  const path = join(await bankDirectory(t), 'lines')
  const { journal } = await Journal.open(path)
  for (const expected of ['one\n', 'one\ntwo\n']) {
    journal.append(expected.trimEnd().split('\n').at(-1) ?? '')
    journal.flushSoon()
    while ((await readFile(path, 'utf8')) !== expected);
  }
  await journal.close()
})

test('[partner-protocol] that nobody waits for it changes nothing for those who wait, where the disk refuses it', async (t) => {
  const { journal } = await Journal.open(join(await bankDirectory(t), 'lines'))
  await journal.close()
  journal.append('lost')
  journal.flushSoon()
  await assert.rejects(journal.flushed())
})

test('[partner-protocol] a torn last line is cut off, and the book goes on after it', async (t) => {
  const path = join(await bankDirectory(t), 'lines')
  const { journal } = await Journal.open(path)
  journal.append('whole')
  await journal.close()
  await appendFile(path, '{"fact":"charge cre')
  const torn = await Journal.open(path)
  assert.deepEqual([...torn.lines], ['whole'])
  torn.journal.append('next')
  await torn.journal.close()
  assert.equal(await readFile(path, 'utf8'), 'whole\nnext\n')
})

test('[partner-protocol] after a write that failed nothing is promised any more', async (t) => {
  const { journal } = await Journal.open(join(await bankDirectory(t), 'lines'))
  await journal.close()
  journal.append('lost')
  await assert.rejects(journal.flushed())
  journal.append('lost too')
  await assert.rejects(journal.flushed())
})
