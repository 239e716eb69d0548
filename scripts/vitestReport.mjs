// A reporter for Vitest: writes what a stage found to the file that LLAMA_GAUGE_STAGE_REPORT names.
import { writeFileSync } from "node:fs";
import path from "node:path";

export class StageReporter {
  onTestRunEnd(modules, errors) {
    const file = process.env.LLAMA_GAUGE_STAGE_REPORT;
    if (file === undefined) return;
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const inState = (state) => tests.filter((test) => test.result().state === state);
    const failures = [
      ...inState("failed").map((test) => ({ test: nameOf(test), message: messageOf(test.result().errors) })),
      ...modules.flatMap(brokenParts),
      ...errors.map((error) => ({ test: "outside of every test", message: messageOf([error]) })),
    ];
    const retried = tests.filter((test) => test.diagnostic()?.flaky).map(nameOf);
    const counts = {
      passed: inState("passed").length,
      failed: failures.length,
      skipped: inState("skipped").length,
    };
    const seconds = (module) => Math.round(module.diagnostic().duration) / 1000;
    const times = Object.fromEntries(modules.map((module) => [relative(module), seconds(module)]));
    writeFileSync(file, JSON.stringify({ ...counts, failures, retried, times }));
  }
}

/** Files and suites that could not be run as a whole: their hooks failed, or they could not be loaded. */
function brokenParts(module) {
  const parts = [module, ...module.children.allSuites()];
  return parts
    .filter((part) => part.errors().length > 0)
    .map((part) => ({
      test: part === module ? relative(module) : `${relative(module)} ${part.fullName}`,
      message: messageOf(part.errors()),
    }));
}

function nameOf(test) {
  return `${relative(test.module)} > ${test.fullName}`;
}

function relative({ moduleId }) {
  return path.relative(process.cwd(), moduleId);
}

function messageOf(errors = []) {
  return errors.map((error) => error.stack ?? error.message).join("\n");
}
