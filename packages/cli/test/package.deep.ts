import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { promisify } from 'node:util'
import { oldestNode, projectWith } from '../../../scripts/test/pack/project.ts'
import { world } from '../../server/test/support/world.ts'
import { commands } from '../src/index.ts'
import { json } from './support/running.ts'

/** An empty project that has installed the packed command line and SDK, and nothing else. */
let project = ''
let program = ''
const run = promisify(execFile)

test.before(() => {
  project = projectWith(['sdk', 'cli'], '--offline')
  program = join(project, 'node_modules/@pixgate/cli/src/main.js')
})
test.after(() => rmSync(project, { recursive: true }))

for (const [name, nodeOf] of [
  ['22.12', oldestNode],
  ['24', async () => process.execPath],
] as const) {
  test(`[cli.1] the packed command line sells under Node.js ${name}; its arguments have no secret`, async (t) => {
    const node = await nodeOf(t, project)
    if (node === undefined) return
    const pix = await world(t)
    const env = { XDG_CONFIG_HOME: project, PIXGATE_URL: pix.url, PIXGATE_API_KEY: pix.apiKey }
    const create = [
      'charge',
      'create',
      '--value',
      '150.25',
      '--external-id',
      name,
      '--description',
      'bank:pay',
      '--wait',
    ]
    const { stdout } = await run(node, [program, ...create, '--json'], { env })
    assert.deepEqual([json(stdout).status, json(stdout).valueCents], ['PAID', 150_25])
    for (const { name: command, isPassedOn } of commands) {
      if (!isPassedOn) await run(node, [program, ...command.split(' '), '--help'], { env })
    }
  })
}

/** Prints the CPU time of a program in microseconds, which other programs of the machine hardly change. */
const CPU = "data:text/javascript,process.on('exit',()=>process.stderr.write(JSON.stringify(process.cpuUsage())))"

test('[cli.1] the help takes 150 ms at most', async (t) => {
  const times: number[] = []
  for (let round = 0; round < 5; round += 1) {
    const { stderr } = await run(process.execPath, ['--import', CPU, program, '--help'])
    const { user, system } = JSON.parse(stderr)
    times.push((user + system) / 1_000)
  }
  t.diagnostic(times.map((ms) => Math.round(ms)).join(' '))
  assert.ok(Math.min(...times) <= 150, String(times))
})
