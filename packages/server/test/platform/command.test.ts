import assert from 'node:assert/strict'
import test from 'node:test'
import { commandOf } from '../../src/platform/command.ts'

test('[doctor.8] a program is named as it is started: by pixgate in an installation, by npm in a checkout', () => {
  const installed = '/opt/pixgate/packages/server/bin/pixgate.mjs'
  assert.equal(commandOf('bank-check --register', installed), 'pixgate bank-check --register')
  assert.equal(commandOf('migrate', installed), 'pixgate migrate')
  for (const started of ['/srv/pixgate/scripts/doctor.ts', undefined]) {
    assert.equal(commandOf('bank-check --register', started), 'npm run bank-check -- --register')
    assert.equal(commandOf('migrate', started), 'npm run migrate')
  }
})
