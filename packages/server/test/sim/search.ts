import { text } from 'node:stream/consumers'
import { firstSeeds } from './find.ts'

/**
 * A process of its own that looks for seeds which reach what is named on its input, one name a line; it tells on its last line
 * which seed reaches which; see find.ts.
 *
 * `node search.ts <first seed> <seeds>`
 */
const [from = '1', count = '0'] = process.argv.slice(2)
const names = (await text(process.stdin)).split('\n')
console.log(JSON.stringify([...(await firstSeeds(names, Number(from), Number(count)))]))
