import { existsSync } from 'node:fs'

/** Loaded before a program: its wall clock goes an hour forward when the file in PIXGATE_TEST_SHIFT appears. */
const path = process.env.PIXGATE_TEST_SHIFT ?? ''

const now = () => Math.floor(performance.timeOrigin + performance.now()) + (existsSync(path) ? 3_600_000 : 0)

Object.assign(Date, { now })
