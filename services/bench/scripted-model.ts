import { once } from 'node:events'
import { startScriptedGateway } from '../agent/testing/scripted-gateway.ts'
import { modelScripts } from './scripted-responses.ts'
import { reportAddress } from './report-address.ts'

/** A model gateway with scripted responses. Run as a process, with the name of the script as the argument. */
const [name = ''] = process.argv.slice(2)
const script = modelScripts[name]
if (script === undefined) throw new Error(`unknown script "${name}"; allowed: ${Object.keys(modelScripts).join(', ')}`)
await using gateway = await startScriptedGateway({ script })
reportAddress(gateway.url)
await once(process, 'SIGTERM')
