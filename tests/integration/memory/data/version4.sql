BEGIN TRANSACTION;
CREATE TABLE advice (
	bug INTEGER NOT NULL, 
	run VARCHAR(12) NOT NULL, 
	was_shown BOOLEAN NOT NULL, 
	suggested TEXT NOT NULL, 
	loops TEXT NOT NULL, 
	helped BOOLEAN, 
	PRIMARY KEY (bug, run), 
	FOREIGN KEY(bug) REFERENCES bug (seq) ON DELETE CASCADE
);
CREATE TABLE bug (
	seq INTEGER NOT NULL, 
	id VARCHAR(12) NOT NULL, 
	project VARCHAR(200) NOT NULL, 
	state VARCHAR(12) NOT NULL, 
	signature VARCHAR(200) NOT NULL, 
	category VARCHAR(20) NOT NULL, 
	hypothesis VARCHAR(300) NOT NULL, 
	tags TEXT NOT NULL, 
	error TEXT NOT NULL, 
	code TEXT NOT NULL, 
	demand VARCHAR(200) NOT NULL, 
	suspects TEXT NOT NULL, 
	in_test BOOLEAN NOT NULL, 
	executed TEXT NOT NULL, 
	run VARCHAR(12) NOT NULL, 
	step INTEGER NOT NULL, 
	"plan" TEXT NOT NULL, 
	root_cause TEXT NOT NULL, 
	created_at VARCHAR(32) NOT NULL, 
	seen_at VARCHAR(32) NOT NULL, 
	completed_at VARCHAR(32), 
	PRIMARY KEY (seq), 
	UNIQUE (id)
);
INSERT INTO "bug" VALUES(1,'31d42a0ce03e','shop','resolved','ValueError: too few','VALUE_ERROR','a guess','["error:ValueError"]','ValueError: too few
at knots.py:3 in check','def check(): ...','check needs len(knots) >= 2 * degree + 2','["knots.py check"]',0,'["curve.py insert","knots.py check","t.py test_a"]','run1',0,'a plan','knots.py check','2026-11-22T11:00:00.000000+00:00','2026-11-22T12:00:00.000000+00:00','2026-11-22T13:00:00.000000+00:00');
INSERT INTO "bug" VALUES(2,'fad5f342b7a4','shop','open','KeyError: ''x''','VALUE_ERROR','a guess','["error:ValueError"]','KeyError: ''x''
at knots.py:3 in check','def check(): ...','','["knots.py check"]',0,'["curve.py insert","knots.py check","t.py test_a"]','run4',0,'a plan','','2026-11-22T14:00:00.000000+00:00','2026-11-22T14:00:00.000000+00:00',NULL);
CREATE TABLE embedding (
	seq INTEGER NOT NULL, 
	model VARCHAR(100) NOT NULL, 
	text VARCHAR(32) NOT NULL, 
	vector BLOB NOT NULL, 
	PRIMARY KEY (seq), 
	UNIQUE (model, text)
);
CREATE TABLE failure (
	seq INTEGER NOT NULL, 
	bug INTEGER NOT NULL, 
	fingerprint VARCHAR(40) NOT NULL, 
	signature VARCHAR(200) NOT NULL, 
	PRIMARY KEY (seq), 
	UNIQUE (bug, fingerprint), 
	FOREIGN KEY(bug) REFERENCES bug (seq) ON DELETE CASCADE
);
INSERT INTO "failure" VALUES(1,1,'1:aa','ValueError: too few');
INSERT INTO "failure" VALUES(2,2,'1:bb','KeyError: ''x''');
CREATE TABLE habit (
	project VARCHAR(200) NOT NULL, 
	pattern VARCHAR(600) NOT NULL, 
	bug VARCHAR(12) NOT NULL, 
	error VARCHAR(80) NOT NULL, 
	"before" TEXT NOT NULL, 
	"after" TEXT NOT NULL, 
	made_at VARCHAR(32) NOT NULL, 
	PRIMARY KEY (project, pattern, bug)
);
CREATE TABLE judged (
	bug INTEGER NOT NULL, 
	guide VARCHAR(200) NOT NULL, 
	use VARCHAR(20) NOT NULL, 
	location VARCHAR(500) NOT NULL, 
	said VARCHAR(60) NOT NULL, 
	was_faulty BOOLEAN, 
	PRIMARY KEY (bug, guide, use, location), 
	FOREIGN KEY(bug) REFERENCES bug (seq) ON DELETE CASCADE
);
CREATE TABLE meta (
	name VARCHAR(40) NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "meta" VALUES('version','4');
CREATE TABLE note (
	seq INTEGER NOT NULL, 
	project VARCHAR(200) NOT NULL, 
	bug INTEGER, 
	text TEXT NOT NULL, 
	made_at VARCHAR(32) NOT NULL, 
	PRIMARY KEY (seq), 
	FOREIGN KEY(bug) REFERENCES bug (seq) ON DELETE CASCADE
);
CREATE TABLE observation (
	project VARCHAR(200) NOT NULL, 
	kind VARCHAR(20) NOT NULL, 
	text VARCHAR(1000) NOT NULL, 
	n INTEGER NOT NULL, 
	first_at VARCHAR(32) NOT NULL, 
	last_at VARCHAR(32) NOT NULL, 
	PRIMARY KEY (project, kind, text)
);
CREATE TABLE posting (
	word BIGINT NOT NULL, 
	failure INTEGER NOT NULL, 
	PRIMARY KEY (word, failure), 
	FOREIGN KEY(failure) REFERENCES failure (seq) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "posting" VALUES(2775387836270446431,1);
INSERT INTO "posting" VALUES(2775387836270446431,2);
INSERT INTO "posting" VALUES(2875347736057281091,2);
INSERT INTO "posting" VALUES(3762407248414178179,2);
INSERT INTO "posting" VALUES(4039317031975110975,2);
INSERT INTO "posting" VALUES(4873998359634451721,1);
INSERT INTO "posting" VALUES(4873998359634451721,2);
INSERT INTO "posting" VALUES(5350052761525535945,1);
INSERT INTO "posting" VALUES(5740259234936988822,1);
INSERT INTO "posting" VALUES(5740259234936988822,2);
INSERT INTO "posting" VALUES(8907338807324328102,1);
CREATE TABLE rejected (
	bug INTEGER NOT NULL, 
	patch VARCHAR(32) NOT NULL, 
	state VARCHAR(32) NOT NULL, 
	outcome VARCHAR(1000) NOT NULL, 
	PRIMARY KEY (bug, patch), 
	FOREIGN KEY(bug) REFERENCES bug (seq) ON DELETE CASCADE
);
CREATE TABLE rule (
	project VARCHAR(200) NOT NULL, 
	fingerprint VARCHAR(40) NOT NULL, 
	bug VARCHAR(12) NOT NULL, 
	PRIMARY KEY (project, fingerprint)
);
CREATE TABLE run (
	id VARCHAR(12) NOT NULL, 
	project VARCHAR(200) NOT NULL, 
	number INTEGER NOT NULL, 
	workspace VARCHAR(12) NOT NULL, 
	made_at VARCHAR(32) NOT NULL, 
	revision VARCHAR(64) NOT NULL, 
	n_passed INTEGER NOT NULL, 
	n_failed INTEGER NOT NULL, 
	kind VARCHAR(20) NOT NULL, 
	arm VARCHAR(10) NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "run" VALUES('run1','shop',1,'w','2026-11-22T11:00:00.000000+00:00','r',9,1,'normal','on');
INSERT INTO "run" VALUES('run2','shop',2,'w','2026-11-22T12:00:00.000000+00:00','r',9,1,'normal','on');
INSERT INTO "run" VALUES('run3','shop',3,'w','2026-11-22T13:00:00.000000+00:00','r',9,0,'normal','on');
INSERT INTO "run" VALUES('run4','shop',4,'w','2026-11-22T14:00:00.000000+00:00','r',9,1,'normal','on');
CREATE TABLE sighting (
	seq INTEGER NOT NULL, 
	bug INTEGER NOT NULL, 
	run VARCHAR(12) NOT NULL, 
	workspace VARCHAR(12) NOT NULL, 
	revision VARCHAR(64) NOT NULL, 
	seen_at VARCHAR(32) NOT NULL, 
	error TEXT NOT NULL, 
	tests VARCHAR(16) NOT NULL, 
	code_state VARCHAR(16) NOT NULL, 
	test_state VARCHAR(16) NOT NULL, 
	edited TEXT NOT NULL, 
	is_aimed BOOLEAN NOT NULL, 
	PRIMARY KEY (seq), 
	FOREIGN KEY(bug) REFERENCES bug (seq) ON DELETE CASCADE
);
INSERT INTO "sighting" VALUES(1,1,'run1','w','r','2026-11-22T11:00:00.000000+00:00','1:aa','75a2b72a2ccebc6c','s0','t0','[]',0);
INSERT INTO "sighting" VALUES(2,1,'run2','w','r','2026-11-22T12:00:00.000000+00:00','1:aa','75a2b72a2ccebc6c','s1','t0','["knots.py check"]',1);
INSERT INTO "sighting" VALUES(3,2,'run4','w','r','2026-11-22T14:00:00.000000+00:00','1:bb','e3c6a495e001d298','s0','t0','[]',0);
CREATE TABLE test (
	bug INTEGER NOT NULL, 
	node_id VARCHAR(1000) NOT NULL, 
	fingerprint VARCHAR(40) NOT NULL, 
	fate VARCHAR(12) NOT NULL, 
	PRIMARY KEY (bug, node_id), 
	FOREIGN KEY(bug) REFERENCES bug (seq) ON DELETE CASCADE
);
INSERT INTO "test" VALUES(1,'t.py::test_a','1:aa','passing');
INSERT INTO "test" VALUES(2,'t.py::test_b','1:bb','failing');
CREATE TABLE tool_use (
	bug INTEGER NOT NULL, 
	tool VARCHAR(200) NOT NULL, 
	run INTEGER NOT NULL, 
	n_tried INTEGER NOT NULL, 
	n_verified INTEGER NOT NULL, 
	fate VARCHAR(12) NOT NULL, 
	functions TEXT NOT NULL, 
	made_at VARCHAR(32) NOT NULL, 
	PRIMARY KEY (bug, tool), 
	FOREIGN KEY(bug) REFERENCES bug (seq) ON DELETE CASCADE
);
CREATE TABLE trial (
	bug INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	run VARCHAR(12) NOT NULL, 
	made_at VARCHAR(32) NOT NULL, 
	outcome VARCHAR(12) NOT NULL, 
	error VARCHAR(200) NOT NULL, 
	metric FLOAT NOT NULL, 
	functions TEXT NOT NULL, 
	diff TEXT NOT NULL, 
	n_added INTEGER NOT NULL, 
	n_removed INTEGER NOT NULL, 
	"plan" TEXT NOT NULL, 
	in_tests BOOLEAN NOT NULL, 
	why VARCHAR(250) NOT NULL, 
	strategy VARCHAR(150) NOT NULL, 
	lesson VARCHAR(200) NOT NULL, cause VARCHAR(250) NOT NULL DEFAULT '', 
	PRIMARY KEY (bug, number), 
	FOREIGN KEY(bug) REFERENCES bug (seq) ON DELETE CASCADE
);
INSERT INTO "trial" VALUES(1,1,'run2','2026-11-22T12:00:00.000000+00:00','failed','ValueError: too few',0.0,'["knots.py check"]','--- a
+++ b
-a
+b
',1,1,'',0,'the error is as it was: ValueError: too few','knots.py check (+1 -1): `a` -> `b`','changing knots.py check does not change this error','');
INSERT INTO "trial" VALUES(1,2,'run3','2026-11-22T13:00:00.000000+00:00','passed','',1.0,'["knots.py check"]','--- a
+++ b
-a
+c
',1,1,'',0,'with knots.py check changed all its tests pass after 1 failed attempt','knots.py check (+1 -1): `a` -> `c`','check needs len(knots) >= 2 * degree + 2: the code had to change, in knots.py check','');
CREATE INDEX run_by_number ON run (project, number);
CREATE INDEX bug_by_state ON bug (state, project);
CREATE INDEX bug_by_pattern ON bug (project, category, signature);
CREATE INDEX bug_by_run ON bug (run);
CREATE INDEX failure_by_fingerprint ON failure (fingerprint);
CREATE INDEX test_by_node ON test (node_id);
CREATE INDEX sighting_of_bug ON sighting (bug, seq);
CREATE INDEX rejected_by_state ON rejected (state);
COMMIT;
