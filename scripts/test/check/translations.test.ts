import assert from 'node:assert/strict'
import test from 'node:test'
import { translationProblems } from '../../check/translations.ts'

const ORIGINAL = [
  '# Running it',
  'A [page](other.md#x).',
  '## Settings',
  'Set `A_NAME`, or read [the guide](guide.md#start).',
  '```sh',
  '# no heading',
  'npm start',
  '```',
  '1. First:',
  '   ```sh',
  '   echo `date`',
  '   ```',
  '### Where they stand',
  'In `.env`.',
].join('\n')

const TRANSLATION = [
  '# Como operar',
  'Uma [página](other.pt-BR.md#x).',
  '## <a id="settings"></a>Configuração',
  'Leia [o guia](guide.md#start), ou defina `A_NAME`.',
  '```sh',
  '# no heading',
  'npm start',
  '```',
  '1. Primeiro:',
  '   ```sh',
  '   echo `date`',
  '   ```',
  '### <a id="where-they-stand"></a>Onde ficam',
  'No `.env`.',
].join('\n')

const problems = (translation: string, original = ORIGINAL) =>
  translationProblems(
    ['a.md'],
    [
      { path: 'a.md', text: original },
      { path: 'a.pt-BR.md', text: translation },
    ],
  )

test('a translation has the headings, the code and the links of its original', () => {
  assert.deepEqual(problems(TRANSLATION), [])
  assert.deepEqual(problems('# Erros\n## not_found\n`x`', '# Errors\n## not_found\n`x`'), [])
})

test('a heading that is missing, moved, of another level or new is named', () => {
  const [settings] = problems(TRANSLATION.replace('id="settings"', 'id="setting"'))
  assert.equal(settings, 'a.pt-BR.md: the heading «## settings» is expected where «## setting» stands')
  assert.equal(problems(TRANSLATION.replace('### <a', '## <a')).length, 1)
  assert.equal(problems(TRANSLATION.replace(/### .*\n/, '')).length, 1)
  assert.deepEqual(problems(`${TRANSLATION}\n## Mais`), ['a.pt-BR.md: the heading «## mais» is not in the original'])
})

test('what differs below a heading is named with it', () => {
  assert.deepEqual(problems(TRANSLATION.replace('npm start', 'npm run start')), [
    'a.pt-BR.md: «settings» differs in its blocks of code; lacking: ```sh # no heading; not in the original: ```sh # no heading',
  ])
  assert.deepEqual(problems(TRANSLATION.replace('`A_NAME`', '`A_NOME`')), [
    'a.pt-BR.md: «settings» differs in its code in sentences; lacking: `A_NAME`; not in the original: `A_NOME`',
  ])
  assert.deepEqual(problems(TRANSLATION.replace('[o guia](guide.md#start)', 'o guia')), [
    'a.pt-BR.md: «settings» differs in its links; lacking: guide.md#start; not in the original: nothing',
  ])
})

test('a document without its translation is named', () => {
  assert.deepEqual(translationProblems(['a.md'], [{ path: 'a.md', text: ORIGINAL }]), [
    'a.md and a.pt-BR.md must both exist',
  ])
})
