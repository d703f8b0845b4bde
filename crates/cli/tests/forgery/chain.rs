//! The jobs in a chain, without anything forged: the yardstick of the forgeries.

use daybook_testkit::api::{ApiServer, Reply};

use crate::run::{Project, Run};

#[test]
fn an_honest_run_is_clean_from_end_to_end() {
    let (project, api) = (Project::new(), ApiServer::start(&[Reply::status(204)]));
    for landed in [2, 4] {
        let mut run = Run::restore(&project);
        run.append(2);
        let jobs = run.all(&api);
        for job in &jobs {
            job.assert(0);
            assert_eq!(job.codes(), [""; 0]);
        }
        assert_eq!(jobs[1].report["verdict"], "clean");
        assert_eq!((project.records().len(), api.requests().len()), (landed, 0));
    }
}
