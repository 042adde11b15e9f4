import { once } from 'node:events'
import { startScriptedGateway } from '../agent/testing/scripted-gateway.ts'
import { acts } from './scripted-responses.ts'
import { sayListening } from './report-listening.ts'

/** A model gateway that repeats a scripted response. Run as a process, with the name of the act. */
const [name = ''] = process.argv.slice(2)
const script = acts[name]
if (script === undefined) throw new Error(`unknown act; allowed: ${Object.keys(acts).join(', ')}`)
await using gateway = await startScriptedGateway({ script })
sayListening(gateway.url)
await once(process, 'SIGTERM')
