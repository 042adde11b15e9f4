import { openBus, openNatsHub } from '../open.ts'
import { probe, createProbeHandlers } from './probe.suite.ts'

/** Serves the probe over NATS until it is killed or its parent ends. */
const [url = '', instance = ''] = process.argv.slice(2)
const bus = await openBus({ hub: openNatsHub({ url }), caller: 'query', instance, version: 'test' })
await bus.serve(probe, createProbeHandlers(instance).handlers)
process.stdout.write('serving\n')
process.stdin.resume().on('end', () => void bus[Symbol.asyncDispose]())
