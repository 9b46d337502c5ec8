import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { parse } from 'yaml'
import { ROOT } from '../../check/repository.ts'

test('each issue template is a form with a name, a description and questions that have labels', () => {
  const files = globSync('.github/ISSUE_TEMPLATE/*.yml', { cwd: ROOT }).filter((file) => !file.endsWith('config.yml'))
  assert.ok(files.length > 0)
  for (const file of files) {
    const { name, description, body } = parse(readFileSync(join(ROOT, file), 'utf8'))
    assert.ok(name && description, file)
    for (const { type, id, attributes } of body) {
      if (type === 'markdown') assert.ok(attributes.value, file)
      else assert.ok(id && attributes.label, `${file}: ${id}`)
    }
  }
})
