import { SEED } from '../support/seed.ts'
import { fuzzes } from './drill.ts'

fuzzes(SEED, 1_500)
