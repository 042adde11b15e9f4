import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { describeWith } from '../../testing/servers.ts'
import { answering } from './conformance/answering.suite.ts'
import { type Network, Place, implementations } from './conformance/implementations.suite.ts'
import { liveness } from './conformance/liveness.suite.ts'
import { routing } from './conformance/routing.suite.ts'
import { streaming } from './conformance/streaming.suite.ts'

for (const implementation of implementations) {
  describeWith(implementation.needs, `a bus over ${implementation.name}`, () => {
    let network: Network
    let place: Place
    beforeAll(async () => {
      network = await implementation.start()
    })
    beforeEach(() => {
      place = new Place(network)
    })
    afterEach(() => place[Symbol.asyncDispose]())
    afterAll(() => network[Symbol.asyncDispose]())

    answering(() => place)
    streaming(() => place)
    routing(() => place)
    liveness(() => place)
  })
}
