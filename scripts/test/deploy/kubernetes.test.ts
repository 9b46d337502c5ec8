import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { parseAllDocuments } from 'yaml'
import { serviceVariables } from '../../../packages/server/src/config.ts'
import { ROOT } from '../../check/repository.ts'

const documents = parseAllDocuments(readFileSync(join(ROOT, 'deploy/kubernetes/pixgate.yaml'), 'utf8')).map(
  (document) => document.toJS(),
)
const pods = documents.filter(({ kind }) => kind === 'Job' || kind === 'Deployment')

test('[config.7] pods on Kubernetes get no variables of Services, and only settings that exist', () => {
  assert.deepEqual(
    pods.map(({ metadata }) => metadata.name),
    ['pixgate-migrate', 'pixgate-api', 'pixgate-worker'],
  )
  for (const { metadata, spec } of pods) {
    const { enableServiceLinks, containers } = spec.template.spec
    assert.equal(enableServiceLinks, false, metadata.name)
    for (const { name } of containers[0].env ?? []) assert.ok(name in serviceVariables, name)
  }
})

test('[health.6] probes of pods on Kubernetes ask the ports that their process opens', () => {
  for (const { metadata, spec } of pods.filter(({ kind }) => kind === 'Deployment')) {
    const { args, env, ports, livenessProbe, readinessProbe } = spec.template.spec.containers[0]
    const [{ name, containerPort }] = ports
    assert.deepEqual(livenessProbe.httpGet, { path: '/healthz', port: name }, metadata.name)
    assert.deepEqual(readinessProbe.httpGet, { path: '/readyz', port: name }, metadata.name)
    const workerPort = env.find((one: { name: string }) => one.name === 'PIXGATE_WORKER_PORT')?.value
    // The image sets PORT.
    assert.equal(String(containerPort), args[0] === 'worker' ? workerPort : '8080')
  }
})
