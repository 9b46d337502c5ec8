import type { Benchmark } from './benchmark.ts'
export const engineProfile: Benchmark = { name: 'engine-profile', summary: '', run: async () => ({ figures: [], targets: [] }) }
