import { once } from 'node:events'
import { startScriptedGateway } from '../agent/testing/scripted-gateway.ts'
import { acts } from './agent-acts.ts'
import { sayListening } from './say-listening.ts'

/** A gateway to a model that plays one act as often as it is asked. Run as a process of its own, with the name of the act. */
const [name = ''] = process.argv.slice(2)
const script = acts[name]
if (script === undefined) throw new Error(`there are the acts ${Object.keys(acts).join(', ')}`)
await using gateway = await startScriptedGateway({ script })
sayListening(gateway.url)
await once(process, 'SIGTERM')
