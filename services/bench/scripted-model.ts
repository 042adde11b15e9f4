import { once } from 'node:events'
import { startScriptedGateway } from '../agent/testing/scripted-gateway.ts'
import { acts } from './scripted-responses.ts'
import { sayListening } from './report-listening.ts'

/** A model gateway with scripted responses. Run as a process, with the name of the script as the argument. */
const [name = ''] = process.argv.slice(2)
const script = acts[name]
if (script === undefined) throw new Error(`unknown script "${name}"; allowed: ${Object.keys(acts).join(', ')}`)
await using gateway = await startScriptedGateway({ script })
sayListening(gateway.url)
await once(process, 'SIGTERM')
