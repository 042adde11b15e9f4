/** The model gateway that says what it is told, for tests of the product as a whole. */
export { evidenceOf, type Script } from '../agent/testing/script.ts'
export { gatewayVariables, type ScriptedGateway, startScriptedGateway } from '../agent/testing/scripted-gateway.ts'
