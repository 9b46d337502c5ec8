import assert from 'node:assert/strict'
import { appendFile, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { Journal } from '../src/journal.ts'
import { bankDirectory } from './support/bank.ts'

test('[partner-protocol] lines of any content are read back in order', async (t) => {
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

test('[partner-protocol] only the owner can read the book', { skip: process.platform === 'win32' }, async (t) => {
  const path = join(await bankDirectory(t), 'lines')
  await (await Journal.open(path)).journal.close()
  assert.equal((await stat(path)).mode & 0o777, 0o600)
})

test('[partner-protocol] flushed lines are in the file; lines appended in the meantime follow', async (t) => {
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

test('[partner-protocol] flushSoon writes lines to the file shortly after each call', async (t) => {
  const path = join(await bankDirectory(t), 'lines')
  const { journal } = await Journal.open(path)
  for (const expected of ['one\n', 'one\ntwo\n']) {
    journal.append(expected.trimEnd().split('\n').at(-1) ?? '')
    journal.flushSoon()
    while ((await readFile(path, 'utf8')) !== expected);
  }
  await journal.close()
})

test('[partner-protocol] if a scheduled flush fails, a caller of flushed gets the error', async (t) => {
  const { journal } = await Journal.open(join(await bankDirectory(t), 'lines'))
  await journal.close()
  journal.append('lost')
  journal.flushSoon()
  await assert.rejects(journal.flushed())
})

test('[partner-protocol] an incomplete last line is truncated and the book continues after it', async (t) => {
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

test('[partner-protocol] after a failed write every flush rejects', async (t) => {
  const { journal } = await Journal.open(join(await bankDirectory(t), 'lines'))
  await journal.close()
  journal.append('lost')
  await assert.rejects(journal.flushed())
  journal.append('lost too')
  await assert.rejects(journal.flushed())
})
