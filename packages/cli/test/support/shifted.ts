import { existsSync } from 'node:fs'

/** Loaded before a program: its wall clock goes an hour forward when the file in PIXGATE_TEST_SHIFT appears. */
const path = process.env.PIXGATE_TEST_SHIFT ?? ''
const wall = Date.now.bind(Date)

Date.now = () => wall() + (existsSync(path) ? 3_600_000 : 0)
