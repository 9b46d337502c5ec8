import assert from 'node:assert/strict'
import test from 'node:test'
import { hasCurrent } from '../../../src/platform/http/request.ts'

test('[webhooks.4] a client has what one of its tags names, weak or strong, or whatever there is', () => {
  for (const header of ['"a"', 'W/"a"', '"x", "a"', '"x",W/"a" ', '*'])
    assert.equal(hasCurrent('"a"', header), true, header)
  for (const header of [undefined, '', 'a', '"b"', '"A"', '"x", "y"'])
    assert.equal(hasCurrent('"a"', header), false, header)
})
