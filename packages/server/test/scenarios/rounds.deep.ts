import { SEED } from '../support/seed.ts'
import { races } from './rounds.ts'

races(SEED, 100)
