import { LRUCache } from 'lru-cache'
import type { Call, ServiceName } from '#proto/call.ts'
import type { Client, Method, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { type Asking, ask } from './ask.ts'
import { encodeJson } from './body.ts'
import type { Instances } from './instances.ts'
import type { Observer } from './observe.ts'
import { gather, parse, readStream } from './read.ts'
import { route } from './route.ts'
import { callSubject } from './subject.ts'

/** What a client needs besides its contract. */
export interface Calling extends Asking {
  caller: ServiceName
  instances: Instances
  observer: Observer
}

/** Instances whose subjects are remembered, of each method. */
const rememberedInstances = 64

/** The methods of another service, typed by its contract. */
export const makeClient = <S extends Service>(calling: Calling, contract: S): Client<S> => {
  const methods = Object.entries(contract.methods).map(([name, method]) => [
    name,
    callable(calling, contract, name, method),
  ])
  // Every method of the contract is there, and each parses what it returns with the schema its type is inferred from.
  return Object.fromEntries(methods) as Client<S>
}

const callable = (calling: Calling, { name: service }: Service, name: string, method: Method) => {
  const { caller, channel, instances, observer } = calling
  // Made once: a wire finds who listens sooner for a text that it has seen before.
  const subjects = new LRUCache<string, string>({
    max: rememberedInstances,
    memoMethod: (instance) => callSubject(service, caller, name, instance || undefined),
  })
  const subjectTo = (instance = ''): string => subjects.memo(instance)
  return async (input: unknown, call: Call): Promise<unknown> => {
    const observed = observer.asking({ service, method: name, caller }, call)
    try {
      const body = encodeInput(input, channel.limits.inputBytes)
      const target = route(method, input, { brought: call.connections, live: (part) => instances.of(service, part) })
      const traced = { ...call, trace: observed.trace }
      const leastLoaded = () => instances.leastLoaded(service)
      const begun = await ask(calling, { service, subjectTo, method, route: target, body, call: traced, leastLoaded })
      if (method.kind === 'stream') {
        begun.exchange.onEnd(observed.end)
        return readStream(method, begun)
      }
      const { first } = begun
      const whole = first.kind === 'answer' ? first.body : await gather(begun.exchange, channel.limits.answerBytes)
      const answer = parse(method.output, whole)
      observed.end()
      return answer
    } catch (error) {
      observed.end(error)
      throw error
    }
  }
}

const encodeInput = (input: unknown, inputBytes: number): Uint8Array => {
  const body = encodeJson(input)
  if (body.byteLength <= inputBytes) return body
  throw new ServiceError('too-large', `A question may be ${inputBytes} bytes long; this one has ${body.byteLength}.`)
}
