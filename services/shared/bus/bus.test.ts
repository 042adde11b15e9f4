import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { describeWith } from '../../testing/describe-with.ts'
import { testResponses } from './conformance/responses.suite.ts'
import { type Network, BusTestContext, busImplementations } from './conformance/implementations.suite.ts'
import { testLiveness } from './conformance/liveness.suite.ts'
import { testRouting } from './conformance/routing.suite.ts'
import { testStreams } from './conformance/streams.suite.ts'

for (const implementation of busImplementations) {
  describeWith(implementation.needs, `a bus over ${implementation.name}`, () => {
    let network: Network
    let place: BusTestContext
    beforeAll(async () => {
      network = await implementation.start()
    })
    beforeEach(() => {
      place = new BusTestContext(network)
    })
    afterEach(() => place[Symbol.asyncDispose]())
    afterAll(() => network[Symbol.asyncDispose]())

    testResponses(() => place)
    testStreams(() => place)
    testRouting(() => place)
    testLiveness(() => place)
  })
}
