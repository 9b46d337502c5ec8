import { engine } from './engine.ts'
const stops: any[] = []
try { await engine.run((s: any) => stops.push(s)) } finally { for (const s of stops.reverse()) await s() }
