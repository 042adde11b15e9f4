import type { Call } from '#proto/call.ts'
import type { Handlers, Service } from '#proto/contract.ts'
import type { structureFactMethods } from '#proto/structure-advice.ts'
import type { Parts } from '../handlers/parts.ts'
import { codecRatios, measureCodec } from './codecs.ts'
import { columnFacts } from './column-facts.ts'
import { oldParts, settingsChanges, tunedSettings } from './host-facts.ts'

/** What advice on tables and hosts is made of. */
export const structureFactHandlers = (parts: Parts): Handlers<Service<typeof structureFactMethods>> => {
  const asking = (hostKey: string, call: Call) => ({ parts, host: parts.hosts.get(hostKey), call })
  return {
    columnFacts: ({ hostKey, ...asked }, call) => columnFacts(asking(hostKey, call), asked),
    codecRatios: ({ hostKey, ...asked }, call) => codecRatios(asking(hostKey, call), asked),
    measureCodec: ({ hostKey, ...asked }, call) => measureCodec(asking(hostKey, call), asked),
    oldParts: ({ hostKey, ...asked }, call) => oldParts(asking(hostKey, call), asked),
    tunedSettings: ({ hostKey }, call) => tunedSettings(asking(hostKey, call)),
    settingsChanges: ({ hostKey, since }, call) => settingsChanges(asking(hostKey, call), since),
  }
}
