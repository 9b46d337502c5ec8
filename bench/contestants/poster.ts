import { Pool } from 'undici'
import { compete } from '../contestant.ts'

/** The yardstick of notifications: undici posts the same body to the same receiver, over 64 connections. */

const [url = '', body = ''] = process.argv.slice(2)
const pool = new Pool(url, { connections: 64 })

compete(async () => {
  const answer = await pool.request({
    method: 'POST',
    path: '/',
    headers: { 'content-type': 'application/json' },
    body,
  })
  await answer.body.dump()
})
