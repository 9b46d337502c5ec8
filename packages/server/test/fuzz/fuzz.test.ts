import { fuzzes } from './drill.ts'

fuzzes(20_261_121, 150)
