import { races } from './rounds.ts'

races(0, 10)
