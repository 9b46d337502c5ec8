import { crashes } from './drill.ts'
import { peoplesScenarios } from './people.ts'
import { reportedFailures, scenarios } from './scenarios.ts'

crashes('pixgate', [...scenarios, ...reportedFailures, ...peoplesScenarios], 20)
