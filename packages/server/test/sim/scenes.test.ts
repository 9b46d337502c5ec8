import test from 'node:test'
import { played, SCENES } from './scenes.ts'

for (const scene of SCENES) {
  test(`[P4] a scene of the simulation reaches what it is played for: ${scene.name}`, async () => {
    await played(scene)
  })
}
